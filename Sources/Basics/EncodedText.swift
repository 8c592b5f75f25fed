// Bytes as ASCII text: hexadecimal digits, and percent-encoding (RFC 3986).

private let digits = Array("0123456789abcdef".utf8)
private let upperDigits = Array("0123456789ABCDEF".utf8)

extension Sequence<UInt8> {
    /// Two lower-case hexadecimal digits for each byte.
    package var hexadecimal: String {
        var text: [UInt8] = []
        for byte in self { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}

extension String {
    /// The text with `%XX` in place of every byte that is not an unreserved character (RFC 3986, 2.3).
    /// - Parameter kept: an ASCII character that stays, too.
    package func percentEncoded(keeping kept: Unicode.Scalar? = nil) -> String {
        var text: [UInt8] = []
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                text.append(byte)
            case _ where UInt32(byte) == kept?.value: text.append(byte)
            default: text += [UInt8(ascii: "%"), upperDigits[Int(byte >> 4)], upperDigits[Int(byte & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
