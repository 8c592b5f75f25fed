// Strings as JSON writes them (RFC 8259, 7).

extension [UInt8] {
    /// Appends the text as a JSON string in UTF-8 with its quotes: only what must be escaped is escaped.
    package mutating func appendJSONString(_ text: String) {
        append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): appendASCII("\\\"")
            case UInt8(ascii: "\\"): appendASCII("\\\\")
            case 0x08: appendASCII("\\b")
            case 0x09: appendASCII("\\t")
            case 0x0a: appendASCII("\\n")
            case 0x0c: appendASCII("\\f")
            case 0x0d: appendASCII("\\r")
            case 0..<0x20:
                appendASCII("\\u00")
                append(UInt8(ascii: byte < 0x10 ? "0" : "1"))
                append(digits[Int(byte & 15)])
            default: append(byte)
            }
        }
        append(UInt8(ascii: "\""))
    }

    private mutating func appendASCII(_ text: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}

private let digits = Array("0123456789abcdef".utf8)
