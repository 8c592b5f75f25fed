// A JSON document as a value, without loss. JSONReader.swift reads it, JSONWriter.swift writes it.

/// A JSON value of any shape: payloads of an app's own, and fields that this version does not know.
///
/// It keeps what was written: objects keep the order of their members, and numbers their text. A payload must come out
/// with the numbers that went in: `1e2`, `0.10` and integers past 2^53 do not survive a `Double`.
public enum JSONValue: Sendable {
    /// Null.
    case null
    /// True or false.
    case bool(Bool)
    /// A number, with its text.
    case number(JSONNumber)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// The members of an object, in order. Their keys differ.
    case object([Member])

    /// A key of an object, and its value.
    public struct Member: Sendable {
        /// The key.
        public var key: String
        /// The value.
        public var value: JSONValue

        /// Makes a member.
        public init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }
}

// MARK: Making values

extension JSONValue {
    /// A whole number.
    @inlinable
    public static func integer(_ value: some BinaryInteger) -> JSONValue { .number(JSONNumber(value)) }

    /// A number; null for a value that is not finite, because JSON has no such numbers.
    public static func double(_ value: Double) -> JSONValue { JSONNumber(value).map(JSONValue.number) ?? .null }

    /// Returns null for nil.
    package static func string(orNull text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }

    /// An object whose keys are sorted.
    public static func object(_ members: [String: JSONValue]) -> JSONValue {
        .object(members.sorted { $0.key < $1.key }.map { Member($0.key, $0.value) })
    }
}

// MARK: Reading values

extension JSONValue {
    /// The string; nil for any other value.
    public var string: String? { if case .string(let text) = self { text } else { nil } }
    /// True or false; nil for any other value.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The items; nil for any other value.
    public var array: [JSONValue]? { if case .array(let items) = self { items } else { nil } }
    /// The members; nil for any other value.
    public var object: [Member]? { if case .object(let members) = self { members } else { nil } }
    /// Whether this is null.
    public var isNull: Bool { if case .null = self { true } else { false } }

    /// The members of an object by their keys; nil for any other value. Of keys that `String` compares as equal, although
    /// their code points differ, the last one counts.
    public var dictionary: [String: JSONValue]? {
        object.map { members in Dictionary(members.map { ($0.key, $0.value) }) { $1 } }
    }

    /// A number written without fraction and exponent, within 64 bits; nil for any other value.
    public var integer: Int64? { if case .number(let number) = self { number.integer } else { nil } }

    /// Like `integer`.
    public var int: Int? { integer.flatMap { Int(exactly: $0) } }

    /// The nearest double of a number; nil for any other value.
    public var double: Double? { if case .number(let number) = self { number.double } else { nil } }

    /// The value of an object's member. Nil if there is none, or if this is not an object. Walks the members.
    ///
    /// Setting a value replaces the member or appends one; setting nil removes it.
    public subscript(key: String) -> JSONValue? {
        get {
            guard case .object(let members) = self else { return nil }
            return members.first { $0.key.hasBytes(of: key) }?.value
        }
        set {
            guard case .object(var members) = self else { return }
            self = .null  // The array has one owner while it changes, so it is not copied.
            switch (members.firstIndex { $0.key.hasBytes(of: key) }, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(key, value))
            case (nil, nil): break
            }
            self = .object(members)
        }
    }

    /// Sets the members of `other`, if both values are objects.
    public mutating func merge(_ other: JSONValue) {
        for member in other.object ?? [] { self[member.key] = member.value }
    }
}

extension String {
    /// Compares code points: `==` would merge texts that look alike. The first two comparisons are fast, and almost all
    /// keys that differ end there.
    func hasBytes(of other: String) -> Bool {
        utf8.count == other.utf8.count && self == other && utf8.elementsEqual(other.utf8)
    }
}
