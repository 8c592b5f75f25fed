// How the contract's types read and write their fields.
//
// The overloads below are found by the code that the compiler writes for Codable types of this module, too. So times
// are RFC 3339 with every coder, and ids and words are read without a nested container each.
import Foundation

extension JSONDecoder {
    static var parley: JSONDecoder { JSONDecoder() }
}

extension JSONEncoder {
    static var parley: JSONEncoder { JSONEncoder() }
}

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

/// Reads an object that may have fields that the type does not know.
struct FieldReader<Key: RawRepresentable<String>> {
    private let container: KeyedDecodingContainer<AnyKey>

    init(_ decoder: any Decoder, _: Key.Type = Key.self) throws {
        container = try decoder.container(keyedBy: AnyKey.self)
    }

    @_disfavoredOverload
    subscript<Value: Decodable>(key: Key) -> Value {
        get throws { try container.decode(Value.self, forKey: AnyKey(key.rawValue)) }
    }

    subscript<Value: StringValue>(key: Key) -> Value {
        get throws { try container.decode(Value.self, forKey: AnyKey(key.rawValue)) }
    }

    subscript(key: Key) -> Date {
        get throws { try container.decode(Date.self, forKey: AnyKey(key.rawValue)) }
    }

    /// Returns nil if the field is absent or null.
    @_disfavoredOverload
    func optional<Value: Decodable>(_ key: Key) throws -> Value? {
        try container.decodeIfPresent(Value.self, forKey: AnyKey(key.rawValue))
    }

    func optional<Value: StringValue>(_ key: Key) throws -> Value? {
        try container.decodeIfPresent(Value.self, forKey: AnyKey(key.rawValue))
    }

    func optional(_ key: Key) throws -> Date? {
        try container.decodeIfPresent(Date.self, forKey: AnyKey(key.rawValue))
    }

    /// The fields that are not among the keys.
    var unknown: [String: JSONValue] {
        get throws {
            var unknown: [String: JSONValue] = [:]
            for key in container.allKeys {
                guard Key(rawValue: key.stringValue) == nil else { continue }
                unknown[key.stringValue] = try container.decode(JSONValue.self, forKey: key)
            }
            return unknown
        }
    }
}

/// Writes what a `FieldReader` reads. Nil is written as an absent field.
struct FieldWriter<Key: RawRepresentable<String>> {
    private var container: KeyedEncodingContainer<AnyKey>

    init(_ encoder: any Encoder, _: Key.Type = Key.self) {
        container = encoder.container(keyedBy: AnyKey.self)
    }

    mutating func write(_ key: Key, _ value: (some Encodable)?) throws {
        try container.encodeIfPresent(value, forKey: AnyKey(key.rawValue))
    }

    mutating func write(_ key: Key, _ value: Date?) throws {
        try container.encodeIfPresent(value, forKey: AnyKey(key.rawValue))
    }

    mutating func write(_ unknown: [String: JSONValue]) throws {
        for (name, value) in unknown { try container.encode(value, forKey: AnyKey(name)) }
    }
}
