// Writes JSON values as bytes, compactly and always the same way: this text is stored, and retries are compared by it.
import Basics

extension JSONText {
    package init(_ value: JSONValue) {
        var writer = JSONWriter()
        writer.write(value)
        self.init(utf8: writer.utf8)
    }
}

extension JSONValue {
    /// Without spaces. Members keep their order and numbers their spelling; only what must be escaped is escaped.
    package var compactText: JSONText { JSONText(self) }
}

/// Builds a JSON text piece by piece. The caller writes commas, except within `write(_:)`.
package struct JSONWriter {
    package private(set) var utf8: [UInt8] = []

    package init(reserving byteCount: Int = 256) { utf8.reserveCapacity(byteCount) }

    /// Appends the text unchanged.
    package mutating func raw(_ text: StaticString) {
        utf8.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends a value that is already JSON.
    package mutating func raw(_ text: JSONText) { utf8.append(contentsOf: text.utf8) }

    package mutating func write(_ value: some BinaryInteger) { utf8.append(contentsOf: String(value).utf8) }

    package mutating func write(_ text: String) { utf8.appendJSONString(text) }

    /// Recurses as deep as the value nests, which the reader bounds.
    package mutating func write(_ value: JSONValue) {
        switch value {
        case .null: raw("null")
        case .bool(true): raw("true")
        case .bool(false): raw("false")
        case .number(let text): utf8.append(contentsOf: text.utf8)
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
