// How the contract's types read and write their fields.
//
// The overloads below are found by the code that the compiler writes for Codable types of this module, too. So times
// are RFC 3339 with every coder, and ids and words are read without a nested container each.
import Foundation

extension KeyedDecodingContainer {
    func decode<Value: StringValue>(_: Value.Type, forKey key: Key) throws -> Value {
        Value(try decode(String.self, forKey: key))
    }

    func decodeIfPresent<Value: StringValue>(_: Value.Type, forKey key: Key) throws -> Value? {
        try decodeIfPresent(String.self, forKey: key).map { Value($0) }
    }

    func decode(_: Date.Type, forKey key: Key) throws -> Date {
        try date(decode(String.self, forKey: key), key)
    }

    func decodeIfPresent(_: Date.Type, forKey key: Key) throws -> Date? {
        try decodeIfPresent(String.self, forKey: key).map { try date($0, key) }
    }

    private func date(_ text: String, _ key: Key) throws -> Date {
        guard let date = Date(rfc3339: text) else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "not a time: \(text)")
        }
        return date
    }
}

extension KeyedEncodingContainer {
    mutating func encode(_ value: Date, forKey key: Key) throws { try encode(value.rfc3339, forKey: key) }

    mutating func encodeIfPresent(_ value: Date?, forKey key: Key) throws {
        try encodeIfPresent(value?.rfc3339, forKey: key)
    }
}

/// A coding key of any name.
struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue _: Int) { nil }
}

/// A type whose objects may have fields that it does not know. One list of its fields both reads and writes them.
protocol FieldCoded: Codable {
    /// What the fields are read into.
    static var blank: Self { get }

    mutating func code(_ fields: inout FieldCoder) throws
}

extension FieldCoded {
    /// Reads all fields, also unknown ones.
    public init(from decoder: any Decoder) throws {
        self = Self.blank
        var fields = FieldCoder(reading: try decoder.container(keyedBy: AnyKey.self))
        try code(&fields)
    }

    /// Writes all fields, also unknown ones. Nil is written as an absent field.
    public func encode(to encoder: any Encoder) throws {
        var copy = self
        var fields = FieldCoder(writing: encoder.container(keyedBy: AnyKey.self))
        try copy.code(&fields)
    }
}

/// Reads the fields of an object, or writes them. Where a value may be nil, the field may be absent or null.
struct FieldCoder {
    typealias Source = KeyedDecodingContainer<AnyKey>
    typealias Target = KeyedEncodingContainer<AnyKey>

    private let source: Source?
    private let target: Target?
    /// The fields that were read.
    private var names: [String] = []

    init(reading source: Source) { (self.source, target) = (source, nil) }
    init(writing target: Target) { (source, self.target) = (nil, target) }

    mutating func code<Value>(
        _ value: inout Value, _ name: String, read: (Source, AnyKey) throws -> Value,
        write: (inout Target, Value, AnyKey) throws -> Void
    ) throws {
        if let source {
            names.append(name)
            value = try read(source, AnyKey(name))
        } else if var target {
            try write(&target, value, AnyKey(name))
        }
    }

    @_disfavoredOverload
    mutating func code<Value: Codable>(_ value: inout Value, _ name: String) throws {
        try code(
            &value, name, read: { try $0.decode(Value.self, forKey: $1) }, write: { try $0.encode($1, forKey: $2) })
    }

    mutating func code<Value: StringValue>(_ value: inout Value, _ name: String) throws {
        try code(
            &value, name, read: { try $0.decode(Value.self, forKey: $1) }, write: { try $0.encode($1, forKey: $2) })
    }

    mutating func code(_ value: inout Date, _ name: String) throws {
        try code(
            &value, name, read: { try $0.decode(Date.self, forKey: $1) }, write: { try $0.encode($1, forKey: $2) })
    }

    mutating func code<Value: Codable>(_ value: inout Value?, _ name: String) throws {
        try code(
            &value, name, read: { try $0.decodeIfPresent(Value.self, forKey: $1) },
            write: { try $0.encodeIfPresent($1, forKey: $2) })
    }

    mutating func code<Value: StringValue>(_ value: inout Value?, _ name: String) throws {
        try code(
            &value, name, read: { try $0.decodeIfPresent(Value.self, forKey: $1) },
            write: { try $0.encodeIfPresent($1, forKey: $2) })
    }

    mutating func code(_ value: inout Date?, _ name: String) throws {
        try code(
            &value, name, read: { try $0.decodeIfPresent(Date.self, forKey: $1) },
            write: { try $0.encodeIfPresent($1, forKey: $2) })
    }

    /// A field that may be absent although its value is never nil.
    mutating func code<Value: Codable>(_ value: inout Value, _ name: String, absent: Value) throws {
        var field: Value? = value
        try code(&field, name)
        value = field ?? absent
    }

    /// The fields that were not named before.
    mutating func code(unknown fields: inout [String: JSONValue]) throws {
        for key in source?.allKeys ?? [] where !names.contains(key.stringValue) {
            fields[key.stringValue] = try source?.decode(JSONValue.self, forKey: key)
        }
        guard var target else { return }
        for (name, value) in fields { try target.encode(value, forKey: AnyKey(name)) }
    }
}
