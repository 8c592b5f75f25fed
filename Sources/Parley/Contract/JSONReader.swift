// Reads JSON text. Foundation's decoder takes ten times as long (docs/decisions.md), and every answer and many columns of
// the store are read as values.
import Foundation

extension JSONValue {
    /// Reads a JSON document (RFC 8259). Whole numbers within 64 bits become integers. Of equal keys the last one counts.
    /// Bytes and escapes that are no Unicode become U+FFFD. Throws `JSONSyntaxError`.
    init(json data: Data) throws {
        self = try data.withUnsafeBytes { bytes in
            var parser = JSONParser(bytes: bytes.bindMemory(to: UInt8.self))
            return try parser.document()
        }
    }

    /// Like `init(json: Data)`.
    init(json text: String) throws {
        var text = text
        self = try text.withUTF8 { bytes in
            var parser = JSONParser(bytes: bytes)
            return try parser.document()
        }
    }
}

/// Where a text stops being JSON.
struct JSONSyntaxError: Error, CustomStringConvertible {
    let offset: Int
    var description: String { "byte \(offset) of the JSON text is invalid" }
}

private struct JSONParser {
    /// Deeper values could overflow the stack. The server accepts 32 levels and adds a few.
    private static let depthMax = 128

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var depth = 0

    init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    mutating func document() throws -> JSONValue {
        let value = try value()
        skipSpace()
        guard position == bytes.count else { throw invalid }
        return value
    }

    private var invalid: JSONSyntaxError { JSONSyntaxError(offset: position) }

    /// The byte at the position; 0, which no JSON text has outside of strings, at the end.
    private var byte: UInt8 { position < bytes.count ? bytes[position] : 0 }

    private mutating func skipSpace() {
        while byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { position += 1 }
    }

    /// Steps over a byte if it is the next one after space.
    private mutating func skip(_ sign: Unicode.Scalar) -> Bool {
        skipSpace()
        guard byte == UInt8(ascii: sign) else { return false }
        position += 1
        return true
    }

    private mutating func value() throws -> JSONValue {
        skipSpace()
        switch byte {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"): return try nested { try $0.object() }
        case UInt8(ascii: "["): return try nested { try $0.array() }
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func nested(_ read: (inout JSONParser) throws -> JSONValue) throws -> JSONValue {
        depth += 1
        guard depth <= Self.depthMax else { throw invalid }
        position += 1
        let value = try read(&self)
        depth -= 1
        return value
    }

    private mutating func object() throws -> JSONValue {
        var members: [(String, JSONValue)] = []
        guard !skip("}") else { return .object([:]) }
        repeat {
            skipSpace()
            let key = try string()
            guard skip(":") else { throw invalid }
            members.append((key, try value()))
        } while skip(",")
        guard skip("}") else { throw invalid }
        return .object(Dictionary(members) { $1 })
    }

    private mutating func array() throws -> JSONValue {
        var items: [JSONValue] = []
        guard !skip("]") else { return .array([]) }
        repeat { items.append(try value()) } while skip(",")
        guard skip("]") else { throw invalid }
        return .array(items)
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws -> JSONValue {
        for index in 0..<word.utf8CodeUnitCount {
            guard byte == word.utf8Start[index] else { throw invalid }
            position += 1
        }
        return value
    }

    private mutating func number() throws -> JSONValue {
        let start = position
        var isInteger = true
        loop: while true {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): break
            case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"), UInt8(ascii: "+"): isInteger = false
            default: break loop
            }
            position += 1
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isInteger, let value = Int64(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else { throw invalid }
        return Int64(exactly: value).map(JSONValue.integer) ?? .number(value)
    }

    // MARK: Strings

    private mutating func string() throws -> String {
        guard byte == UInt8(ascii: "\"") else { throw invalid }
        position += 1
        let start = position
        try skipPlain()
        if byte == UInt8(ascii: "\"") {  // Most strings have no escapes.
            position += 1
            return String(decoding: bytes[start..<position - 1], as: UTF8.self)
        }
        var text = Array(bytes[start..<position])
        while byte == UInt8(ascii: "\\") {
            position += 1
            text += try escape()
            let plain = position
            try skipPlain()
            text += bytes[plain..<position]
        }
        position += 1
        return String(decoding: text, as: UTF8.self)
    }

    /// Steps to the next quote or backslash.
    private mutating func skipPlain() throws {
        while position < bytes.count, bytes[position] != UInt8(ascii: "\""), bytes[position] != UInt8(ascii: "\\") {
            guard bytes[position] >= 0x20 else { throw invalid }
            position += 1
        }
        guard position < bytes.count else { throw invalid }
    }

    private mutating func escape() throws -> String.UTF8View {
        let sign = byte
        position += 1
        switch sign {
        case UInt8(ascii: "n"): return "\n".utf8
        case UInt8(ascii: "t"): return "\t".utf8
        case UInt8(ascii: "r"): return "\r".utf8
        case UInt8(ascii: "b"): return "\u{8}".utf8
        case UInt8(ascii: "f"): return "\u{c}".utf8
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return String(Unicode.Scalar(sign)).utf8
        case UInt8(ascii: "u"): return String(try unicodeEscape()).utf8
        default: throw invalid
        }
    }

    /// A character beyond 16 bits is two escapes. Half of such a pair stands for no character.
    private mutating func unicodeEscape() throws -> Unicode.Scalar {
        let unit = try hexadecimal()
        guard UTF16.isLeadSurrogate(unit), byte == UInt8(ascii: "\\") else { return Unicode.Scalar(unit) ?? "\u{fffd}" }
        let before = position
        position += 1
        if byte == UInt8(ascii: "u") {
            position += 1
            let next = try hexadecimal()
            if UTF16.isTrailSurrogate(next) {
                return Unicode.Scalar(0x10000 + (UInt32(unit & 0x3ff) << 10 | UInt32(next & 0x3ff))) ?? "\u{fffd}"
            }
        }
        position = before
        return "\u{fffd}"
    }

    private mutating func hexadecimal() throws -> UInt16 {
        guard position + 4 <= bytes.count,
            let unit = UInt16(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16)
        else { throw invalid }
        position += 4
        return unit
    }
}
