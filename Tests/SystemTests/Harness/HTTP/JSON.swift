// JSON literals and look-ups for tests.

import Foundation

@testable import Parley

/// A JSON value. Missing members are null, so that an expectation fails and nothing traps.
enum JSON: Sendable, Hashable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// Reads as the client does. Foundation's decoder throws for each type that a value does not have, and the test
    /// library records a backtrace of each error.
    init(parsing data: Data) throws { self.init(try JSONValue(json: data)) }

    private init(_ value: JSONValue) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .number(let value): self = .number(value.double)
        case .string(let text): self = .string(text)
        case .array(let items): self = .array(items.map(JSON.init))
        case .object(let members): self = .object(Dictionary(members.map { ($0.key, JSON($0.value)) }) { $1 })
        }
    }

    subscript(key: String) -> JSON {
        if case .object(let members) = self { members[key] ?? .null } else { .null }
    }

    subscript(index: Int) -> JSON {
        items.indices.contains(index) ? items[index] : .null
    }

    /// An array's items; empty for anything else.
    var items: [JSON] { if case .array(let items) = self { items } else { [] } }
    var keys: Set<String> { if case .object(let members) = self { Set(members.keys) } else { [] } }
    var string: String? { if case .string(let text) = self { text } else { nil } }
    var int: Int? { if case .number(let number) = self { Int(exactly: number) } else { nil } }
    var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    var isArray: Bool { if case .array = self { true } else { false } }

    /// The encoded text.
    /// Members are sorted, so that equal values have equal bytes: a repeated request is compared by them.
    var data: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(self)) ?? Data()
    }
}

extension JSON: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral, ExpressibleByStringInterpolation
{
    init(stringLiteral value: String) { self = .string(value) }
    init(integerLiteral value: Int) { self = .number(Double(value)) }
    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(arrayLiteral elements: JSON...) { self = .array(elements) }
    init(dictionaryLiteral elements: (String, JSON)...) { self = .object(Dictionary(elements) { $1 }) }
    init(nilLiteral: ()) { self = .null }
    init(_ value: Int) { self = .number(Double(value)) }
    init(_ value: String) { self = .string(value) }
}

extension JSON: CustomStringConvertible {
    var description: String { String(decoding: data, as: UTF8.self) }
}
