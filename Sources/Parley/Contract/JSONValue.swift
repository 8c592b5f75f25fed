// A JSON value of any shape: payloads of an app's own, and fields that this version of the client does not know.
import Foundation

/// A JSON value. Integers stay integers, so a number that the server sent is written back unchanged.
public enum JSONValue: Sendable, Hashable {
    /// Null.
    case null
    /// True or false.
    case bool(Bool)
    /// A number without fraction or exponent that fits into 64 bits.
    case integer(Int64)
    /// Any other number.
    case number(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object.
    case object([String: JSONValue])
}

extension JSONValue {
    /// The string; nil for any other value.
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    /// True or false; nil for any other value.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The integer; nil for any other value, and for a number with a fraction.
    public var int: Int? { if case .integer(let value) = self { Int(exactly: value) } else { nil } }
    /// The items; nil for any other value.
    public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    /// The members; nil for any other value.
    public var object: [String: JSONValue]? { if case .object(let value) = self { value } else { nil } }
    /// Whether this is null.
    public var isNull: Bool { self == .null }
    /// Nil for null.
    var unlessNull: JSONValue? { isNull ? nil : self }

    /// The value of a key; nil if this is not an object or has no such key. Setting nil removes the key.
    public subscript(key: String) -> JSONValue? {
        get { object?[key] }
        set {
            guard case .object(var members) = self else { return }
            self = .null  // The dictionary has one owner while it changes, so it is not copied.
            members[key] = newValue
            self = .object(members)
        }
    }

    /// Sets the keys of `other`, which is an object.
    public mutating func merge(_ other: [String: JSONValue]) {
        guard case .object(let members) = self else { return }
        self = .object(members.merging(other) { $1 })
    }
}

extension JSONValue: Codable {
    public init(from decoder: any Decoder) throws {
        let single = try decoder.singleValueContainer()
        // A failed attempt costs a microsecond, so the likely forms come first.
        if single.decodeNil() {
            self = .null
        } else if let value = try? single.decode(String.self) {
            self = .string(value)
        } else if let members = try? single.decode([String: JSONValue].self) {
            self = .object(members)
        } else if let value = try? single.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? single.decode(Bool.self) {
            self = .bool(value)
        } else if let items = try? single.decode([JSONValue].self) {
            self = .array(items)
        } else {
            self = .number(try single.decode(Double.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var single = encoder.singleValueContainer()
        switch self {
        case .null: try single.encodeNil()
        case .bool(let value): try single.encode(value)
        case .integer(let value): try single.encode(value)
        case .number(let value): try single.encode(value)
        case .string(let value): try single.encode(value)
        case .array(let items): try single.encode(items)
        case .object(let members): try single.encode(members)
        }
    }
}

// Not by nil: where a value is optional, `nil` would sometimes mean null and sometimes absent.
extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}
