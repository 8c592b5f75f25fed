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

/// A key that the type knows, or any other one.
enum OpenKey<Known: CodingKey>: CodingKey {
    case known(Known)
    case unknown(String)

    init(stringValue: String) { self = Known(stringValue: stringValue).map { .known($0) } ?? .unknown(stringValue) }
    init?(intValue _: Int) { nil }

    var stringValue: String {
        switch self {
        case .known(let key): key.stringValue
        case .unknown(let name): name
        }
    }

    var intValue: Int? { nil }
}

/// Reads an object that may have fields that the type does not know.
struct FieldReader<Key: CodingKey> {
    private let container: KeyedDecodingContainer<OpenKey<Key>>

    init(_ decoder: any Decoder, _: Key.Type = Key.self) throws {
        container = try decoder.container(keyedBy: OpenKey<Key>.self)
    }

    @_disfavoredOverload
    subscript<Value: Decodable>(key: Key) -> Value {
        get throws { try container.decode(Value.self, forKey: .known(key)) }
    }

    subscript<Value: StringValue>(key: Key) -> Value {
        get throws { try container.decode(Value.self, forKey: .known(key)) }
    }

    subscript(key: Key) -> Date {
        get throws { try container.decode(Date.self, forKey: .known(key)) }
    }

    /// Nil if the field is absent or null.
    @_disfavoredOverload
    func optional<Value: Decodable>(_ key: Key) throws -> Value? {
        try container.decodeIfPresent(Value.self, forKey: .known(key))
    }

    func optional<Value: StringValue>(_ key: Key) throws -> Value? {
        try container.decodeIfPresent(Value.self, forKey: .known(key))
    }

    func optional(_ key: Key) throws -> Date? {
        try container.decodeIfPresent(Date.self, forKey: .known(key))
    }

    /// The fields that are not among the keys.
    var unknown: [String: JSONValue] {
        get throws {
            var unknown: [String: JSONValue] = [:]
            for key in container.allKeys {
                guard case .unknown(let name) = key else { continue }
                unknown[name] = try container.decode(JSONValue.self, forKey: key)
            }
            return unknown
        }
    }
}

/// Writes what a `FieldReader` reads. Nil is written as an absent field.
struct FieldWriter<Key: CodingKey> {
    private var container: KeyedEncodingContainer<OpenKey<Key>>

    init(_ encoder: any Encoder, _: Key.Type = Key.self) {
        container = encoder.container(keyedBy: OpenKey<Key>.self)
    }

    mutating func write(_ key: Key, _ value: (some Encodable)?) throws {
        try container.encodeIfPresent(value, forKey: .known(key))
    }

    mutating func write(_ key: Key, _ value: Date?) throws {
        try container.encodeIfPresent(value, forKey: .known(key))
    }

    mutating func write(_ unknown: [String: JSONValue]) throws {
        for (name, value) in unknown { try container.encode(value, forKey: .unknown(name)) }
    }
}
