// BSON of mongodump: the same documents as mongoexport's JSON, and damaged ones.
import Foundation
import TestSupport
import Testing

@testable import Converters
@testable import Domain

@Suite("BSON", .timeLimit(.minutes(1)))
struct ReadingBSON {
    @Test("has the examples of bsonspec.org")
    func examples() throws {
        let hello: [UInt8] = [0x16, 0, 0, 0, 2] + Array("hello\0".utf8) + [6, 0, 0, 0] + Array("world\0".utf8) + [0]
        #expect(try BSONReader.read(hello).compact == #"{"hello":"world"}"#)
        let list: [UInt8] =
            [0x31, 0, 0, 0, 4] + Array("BSON\0".utf8) + [0x26, 0, 0, 0, 2, 0x30, 0, 8, 0, 0, 0]
            + Array("awesome\0".utf8) + [1, 0x31, 0, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x14, 0x40, 0x10, 0x32, 0]
            + [0xC2, 7, 0, 0, 0, 0]
        #expect(try BSONReader.read(list).compact == #"{"BSON":["awesome",5.05,1986]}"#)
    }

    @Test("has dates, object ids, numbers, booleans, nulls and bytes")
    func types() throws {
        let document = BSONText.document([
            (9, "date", BSONText.number(1_700_000_000_123, 8)), (7, "id", Array(repeating: 0xAB, count: 12)),
            (0x12, "long", BSONText.number(-2, 8)), (8, "yes", [1]), (0x0A, "null", []),
            (5, "bytes", [2, 0, 0, 0, 0, 1, 2]),
        ])
        let value = try BSONReader.read(document)
        #expect(value.mongoDate("date")?.description == "2023-11-14T22:13:20.123Z")
        #expect(value.mongoID("id") == "abababababababababababab")
        #expect(value["long"]?.integer == -2)
        #expect(value["yes"]?.bool == true)
        #expect(value["null"] == .null)
        #expect(value["bytes"]?["$binary"]?.string == "AQI=")
    }

    @Test("is refused wherever it is cut off or changed", arguments: 0..<22)
    func damage(count: Int) {
        let hello: [UInt8] = [0x16, 0, 0, 0, 2] + Array("hello\0".utf8) + [6, 0, 0, 0] + Array("world\0".utf8) + [0]
        #expect(throws: BSONReader.Damage.self) { try BSONReader.read(Array(hello.prefix(count))) }
        var changed = hello
        changed[count] = 0xFF
        // A changed letter is another text. Nothing else may pass, and nothing may trap.
        if (try? BSONReader.read(changed)) != nil { #expect((4...9).contains(count) || (15...19).contains(count)) }
    }

    @Test("is refused if it nests without end")
    func depth() {
        var document = BSONText.document([])
        for _ in 0..<BSONReader.depthMax { document = BSONText.document([(3, "a", document)]) }
        #expect(throws: BSONReader.Damage.self) { try BSONReader.read(document) }
    }

    @Test("writes the same archive as JSON")
    func wholeDump() throws {
        let directory = try TemporaryDirectory()
        for name in ["users", "rocketchat_room", "rocketchat_subscription", "rocketchat_message"] {
            let file = ConvertedSample.path(.rocketchat) + "/\(name).json"
            let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
            let documents = try lines.map { try BSONText.value(JSONReader.read(Array($0.utf8))).bytes }
            try Data(documents.joined()).write(to: URL(filePath: "\(directory.path)/\(name).bson"))
        }
        #expect(try ConvertedSample(.rocketchat, directory.path).lines == ConvertedSample(.rocketchat).lines)
        let messages = "\(directory.path)/rocketchat_message.bson"
        try Data(contentsOf: URL(filePath: messages)).dropLast(3).write(to: URL(filePath: messages))
        let error = #expect(throws: ConversionError.self) { try ConvertedSample(.rocketchat, directory.path) }
        #expect(error?.description.hasPrefix("rocketchat_message.bson, document 9: ") == true)
    }
}

/// Writes BSON.
private enum BSONText {
    static func document(_ elements: [(UInt8, String, [UInt8])]) -> [UInt8] {
        var content: [UInt8] = []
        for (type, key, value) in elements { content += [type] + Array(key.utf8) + [0] + value }
        return number(Int64(content.count + 5), 4) + content + [0]
    }

    static func number(_ value: Int64, _ byteCount: Int) -> [UInt8] {
        (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> (8 * Int64($0))) }
    }

    static func value(_ json: JSONValue) -> (type: UInt8, bytes: [UInt8]) {
        if json["$date"] != nil {
            let time = JSONValue.object([.init("t", json)]).mongoDate("t")
            return (9, number((time?.microsSince1970 ?? 0) / 1_000, 8))
        }
        switch json {
        case .object(let members): return (3, document(members.map { element($0.key, $0.value) }))
        case .array(let items): return (4, document(items.enumerated().map { element("\($0.offset)", $0.element) }))
        case .string(let text): return (2, number(Int64(text.utf8.count + 1), 4) + Array(text.utf8) + [0])
        case .number(let value): return (0x10, number(value.integer ?? 0, 4))
        case .bool(let value): return (8, [value ? 1 : 0])
        case .null: return (0x0A, [])
        }
    }

    private static func element(_ key: String, _ json: JSONValue) -> (UInt8, String, [UInt8]) {
        let value = value(json)
        return (value.type, key, value.bytes)
    }
}
