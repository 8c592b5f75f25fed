// Reads BSON (bsonspec.org), in which mongodump writes, as JSON values. MongoDB's own types become what mongoexport
// writes for them: dates are `{"$date":milliseconds}` and object ids `{"$oid":"…"}`.
import Basics
import Domain
import FoundationEssentials

/// Reads one document. Every length is checked before it is used.
struct BSONReader {
    static let depthMax = 200
    /// MongoDB's limit is 16 MiB.
    static let documentByteCountMax = 64 * 1024 * 1024

    /// Why bytes are not a document.
    struct Damage: Error, Equatable {
        var reason: String
        var offset: Int
    }

    private let bytes: [UInt8]
    private var at = 0

    /// - Throws: `Damage`.
    static func read(_ bytes: [UInt8]) throws -> JSONValue {
        var reader = BSONReader(bytes: bytes)
        let value = try reader.document(isArray: false, depth: 0)
        guard reader.at == bytes.count else { throw reader.damage("bytes after the end of the document") }
        return value
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private func damage(_ reason: String) -> Damage { Damage(reason: reason, offset: at) }

    private mutating func document(isArray: Bool, depth: Int) throws -> JSONValue {
        guard depth < Self.depthMax else { throw damage("documents nested more than \(Self.depthMax) deep") }
        let start = at
        let byteCount = Int(try int32())
        guard byteCount >= 5, start + byteCount <= bytes.count else { throw damage("a wrong length") }
        var members: [JSONValue.Member] = []
        while true {
            let type = UInt8(try littleEndian(1))
            if type == 0 { break }
            let key = try cString()
            members.append(.init(key, try value(type, depth: depth)))
        }
        guard at == start + byteCount else { throw damage("a length that does not match the content") }
        return isArray ? .array(members.map(\.value)) : .object(members)
    }

    private mutating func value(_ type: UInt8, depth: Int) throws -> JSONValue {
        switch type {
        case 0x01: return Self.number(Double(bitPattern: UInt64(bitPattern: try int64())))
        case 0x02, 0x0d, 0x0e: return .string(try string())
        case 0x03: return try document(isArray: false, depth: depth + 1)
        case 0x04: return try document(isArray: true, depth: depth + 1)
        case 0x05: return try binary()
        case 0x06, 0x0a, 0x7f, 0xff: return .null
        case 0x07: return .object([.init("$oid", .string(try take(12).hexadecimal))])
        case 0x08: return .bool(try littleEndian(1) != 0)
        case 0x09: return .object([.init("$date", .integer(try int64()))])
        case 0x0b: return .array([.string(try cString()), .string(try cString())])
        case 0x0c:
            _ = try string()
            return .object([.init("$oid", .string(try take(12).hexadecimal))])
        case 0x0f:
            _ = try int32()
            return .array([.string(try string()), try document(isArray: false, depth: depth + 1)])
        case 0x10: return .integer(try int32())
        case 0x11, 0x12: return .integer(try int64())
        case 0x13: return .string(try take(16).hexadecimal)
        default: throw damage("an element of the unknown type \(type)")
        }
    }

    private static func number(_ value: Double) -> JSONValue {
        if let whole = Int64(exactly: value) { return .integer(whole) }
        return .double(value)
    }

    private mutating func binary() throws -> JSONValue {
        let byteCount = Int(try int32())
        _ = try take(1)
        return .object([.init("$binary", .string(Data(try take(byteCount)).base64EncodedString()))])
    }

    private mutating func string() throws -> String {
        let byteCount = Int(try int32())
        guard byteCount >= 1 else { throw damage("a string of a wrong length") }
        let text = try take(byteCount)
        guard text.last == 0 else { throw damage("a string without its end") }
        return Self.text(text.dropLast())
    }

    private mutating func cString() throws -> String {
        guard let end = bytes[at...].firstIndex(of: 0) else { throw damage("a key without its end") }
        defer { at = end + 1 }
        return Self.text(bytes[at..<end])
    }

    /// PostgreSQL cannot store U+0000.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        return bytes.contains(0) ? String(text.map { $0 == "\0" ? "\u{FFFD}" : $0 }) : text
    }

    private mutating func int32() throws -> Int32 {
        Int32(truncatingIfNeeded: try littleEndian(4))
    }

    private mutating func int64() throws -> Int64 { Int64(bitPattern: try littleEndian(8)) }

    private mutating func littleEndian(_ byteCount: Int) throws -> UInt64 {
        guard byteCount <= bytes.count - at else { throw damage("the end of the document") }
        defer { at += byteCount }
        return (0..<byteCount).reduce(0) { $0 | UInt64(bytes[at + $1]) << UInt64(8 * $1) }
    }

    private mutating func take(_ byteCount: Int) throws -> ArraySlice<UInt8> {
        guard byteCount >= 0, byteCount <= bytes.count - at else { throw damage("the end of the document") }
        defer { at += byteCount }
        return bytes[at..<at + byteCount]
    }
}
