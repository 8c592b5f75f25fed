// Writes JSON values as bytes, compactly and always the same way: this text is stored, and retries are compared by it.

/// A complete JSON value as UTF-8, made by the database or by the JSON writer and passed on unchanged.
package struct JSONText: Hashable, Sendable {
    package let utf8: [UInt8]
    package init(utf8: [UInt8]) { self.utf8 = utf8 }

    package init(_ value: JSONValue) {
        var writer = JSONWriter()
        writer.write(value)
        utf8 = writer.utf8
    }

    package var string: String { String(decoding: utf8, as: UTF8.self) }
}

extension JSONValue {
    /// Without spaces. Members keep their order and numbers their spelling; only what must be escaped is escaped.
    package var compactText: JSONText { JSONText(self) }
}

/// Builds a JSON text piece by piece. The caller writes commas, except within `write(_:)`.
package struct JSONWriter {
    @usableFromInline package internal(set) var utf8: [UInt8] = []

    package init(reserving byteCount: Int = 256) { utf8.reserveCapacity(byteCount) }

    /// Appends the text unchanged.
    @inlinable
    package mutating func raw(_ text: StaticString) {
        utf8.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends a value that is already JSON.
    package mutating func raw(_ text: JSONText) { utf8.append(contentsOf: text.utf8) }

    /// Appends bytes that are already JSON, or a part of it.
    @inlinable
    package mutating func raw(_ bytes: some Collection<UInt8>) { utf8.append(contentsOf: bytes) }

    /// Appends a string of ASCII characters, of which none has to be escaped, with its quotes.
    /// - Parameter write: writes the characters, and returns how many.
    @inlinable
    package mutating func writePlain(
        byteCountMax: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) -> Int
    ) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: byteCountMax + 2) { buffer in
            let count = write(UnsafeMutableBufferPointer(rebasing: buffer[1...]))
            buffer[0] = UInt8(ascii: "\"")
            buffer[count + 1] = UInt8(ascii: "\"")
            utf8.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[..<(count + 2)]))
        }
    }

    @inlinable
    package mutating func write(_ value: some BinaryInteger) { utf8.append(contentsOf: String(value).utf8) }

    package mutating func write(_ text: String) { utf8.appendJSONString(text) }

    /// Recurses as deep as the value nests, which the reader bounds.
    package mutating func write(_ value: JSONValue) {
        switch value {
        case .null: raw("null")
        case .bool(true): raw("true")
        case .bool(false): raw("false")
        case .number(let number): utf8.append(contentsOf: number.text.utf8)
        case .string(let text): write(text)
        case .array(let items):
            utf8.append(Byte.openBracket)
            for (index, item) in items.enumerated() {
                if index > 0 { utf8.append(Byte.comma) }
                write(item)
            }
            utf8.append(Byte.closeBracket)
        case .object(let members):
            utf8.append(Byte.openBrace)
            for (index, member) in members.enumerated() {
                if index > 0 { utf8.append(Byte.comma) }
                write(member.key)
                utf8.append(Byte.colon)
                write(member.value)
            }
            utf8.append(Byte.closeBrace)
        }
    }
}

extension [UInt8] {
    /// Appends the text as a JSON string in UTF-8 with its quotes: only what must be escaped is escaped.
    package mutating func appendJSONString(_ text: String) {
        append(Byte.quote)
        for byte in text.utf8 {
            switch byte {
            case Byte.quote: appendASCII("\\\"")
            case Byte.backslash: appendASCII("\\\\")
            case 0x08: appendASCII("\\b")
            case 0x09: appendASCII("\\t")
            case 0x0a: appendASCII("\\n")
            case 0x0c: appendASCII("\\f")
            case 0x0d: appendASCII("\\r")
            case 0..<0x20:
                appendASCII("\\u00")
                appendHexadecimal(byte)
            default: append(byte)
            }
        }
        append(Byte.quote)
    }

    private mutating func appendASCII(_ text: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
