// Bytes as ASCII text: hexadecimal digits, and percent-encoding (RFC 3986).

private let upperDigits = Array("0123456789ABCDEF".utf8)

extension Sequence<UInt8> {
    /// Two lower-case hexadecimal digits for each byte.
    @inlinable
    package var hexadecimal: String {
        var text: [UInt8] = []
        for byte in self { text.appendHexadecimal(byte) }
        return String(decoding: text, as: UTF8.self)
    }
}

extension [UInt8] {
    @inlinable
    package mutating func appendHexadecimal(_ byte: UInt8) {
        append(UInt8(hexadecimalDigitOf: byte >> 4))
        append(UInt8(hexadecimalDigitOf: byte & 15))
    }

    /// The bytes of pairs of hexadecimal digits in either case. Nil for anything else.
    package init?(hexadecimal text: some StringProtocol) {
        let digits = text.utf8.compactMap(\.hexadecimalDigit)
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

extension UInt8 {
    /// The lower-case digit of a value below 16.
    @inlinable
    package init(hexadecimalDigitOf value: UInt8) {
        self = value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// The value of a hexadecimal digit in either case.
    @inlinable
    package var hexadecimalDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
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
