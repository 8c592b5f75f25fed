// JSON literals and look-ups for tests.

import Foundation

/// A JSON value. Missing members are null, so that an expectation fails and nothing traps.
enum JSON: Sendable, Hashable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    init(parsing data: Data) throws { self = try JSONDecoder().decode(JSON.self, from: data) }

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
    var data: Data { (try? JSONEncoder().encode(self)) ?? Data() }
}

extension JSON: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }

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
