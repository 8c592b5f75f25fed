// Every kind of parameter there and back through a real server, and values that are refused.

import FoundationEssentials
import TestSupport
import Testing

@testable import Postgres

@Suite("A value", .timeLimit(.minutes(1)))
struct RoundTrips {
    /// Sends one parameter, cast to `type`, and returns the row with it.
    func roundTrip(_ client: PostgresClient, _ type: String, _ parameter: Parameter) async throws -> Row {
        try #require(try await client.run("select $1::\(type)", [parameter]).first)
    }

    @Test("of each type comes back as it was sent")
    func scalars() async throws {
        try await withClient(connections: 1) { client in
            #expect(try await roundTrip(client, "bool", .bool(true)).bool(0))
            #expect(try await roundTrip(client, "int2", .int2(.min)).int2(0) == .min)
            #expect(try await roundTrip(client, "int4", .int4(.min)).int4(0) == .min)
            #expect(try await roundTrip(client, "int8", .int8(.max)).int8(0) == .max)
            for text in ["", "Grüße 👋 \u{10FFFF}", String(repeating: "x", count: 100_000)] {
                #expect(try await roundTrip(client, "text", .text(text)).text(0) == text)
                #expect(try await roundTrip(client, "varchar", .text(text)).text(0) == text)
                #expect(try await roundTrip(client, "text", .json(Array(text.utf8))).bytes(0) == Array(text.utf8))
            }
            let bytes = [UInt8](0...255)
            #expect(try await roundTrip(client, "bytea", .bytes(bytes)).bytes(0) == bytes)
            #expect(try await roundTrip(client, "bytea", .bytes([])).bytes(0) == [])
            let uuid = UUID()
            #expect(try await roundTrip(client, "uuid", .uuid(uuid)).uuid(0) == uuid)
            #expect(try await roundTrip(client, "uuid", .uuid(uuid)).withBytes(0) { $0[0] } == uuid.uuid.0)
            let json = Array(#"{"a": [1, null]}"#.utf8)
            #expect(try await roundTrip(client, "json", .json(json)).bytes(0) == json)
            #expect(try await roundTrip(client, "json::jsonb", .json(json)).bytes(0) == json)
            for micros in [0, 1, -1, 1_700_000_000_123_456] as [Int64] {
                let row = try await roundTrip(client, "timestamptz", .timestamp(microsSince1970: micros))
                #expect(try row.timestamp(0) == micros)
            }
        }
    }

    @Test("that is a time means the same to the server")
    func time() async throws {
        try await withClient { client in
            let row = try await roundTrip(
                client, "timestamptz::text", .timestamp(microsSince1970: 1_000_000_000_500_000))
            #expect(try row.text(0) == "2001-09-09 01:46:40.5+00")
        }
    }

    @Test("that is an array comes back with its NULLs, and empty")
    func arrays() async throws {
        try await withClient(connections: 1) { client async throws in
            let ids = [UUID(), nil, UUID()]
            #expect(try await roundTrip(client, "uuid[]", .uuids(ids)).arrayOrNulls(0) == ids)
            #expect(try await roundTrip(client, "uuid[]", .uuids([])).uuids(0) == [])
            #expect(
                try await roundTrip(client, "text[]", .texts(["a", nil, ""])).arrayOrNulls(0) == ["a", nil, ""]
                    as [String?])
            #expect(try await roundTrip(client, "int8[]", .int8s([1, nil])).arrayOrNulls(0) == [1, nil] as [Int64?])
            #expect(try await roundTrip(client, "int4[]", .int4s([.min, .max])).int4s(0) == [.min, .max])
            #expect(try await roundTrip(client, "int2[]", .int2s([3, nil])).arrayOrNulls(0) == [3, nil] as [Int16?])
            let bools = [true, nil, false]
            #expect(try await roundTrip(client, "bool[]", .bools(bools)).arrayOrNulls(0) == bools)
            let bytes: [[UInt8]?] = [[0, 255], [], nil]
            #expect(try await roundTrip(client, "bytea[]", .bytesArray(bytes)).arrayOrNulls(0) == bytes)
            let jsons: [[UInt8]?] = [Array("{}".utf8), nil]
            #expect(try await roundTrip(client, "json[]", .jsons(jsons)).arrayOrNulls(0) == jsons)
            let times: [BinaryTimestamp?] = try await roundTrip(client, "timestamptz[]", .timestamps([5, nil]))
                .arrayOrNulls(0)
            #expect(times.map { $0?.microsSince1970 } == [5, nil])
        }
    }

    @Test("that is NULL is null of any type, and an error where none may be")
    func nulls() async throws {
        try await withClient(connections: 1) { client in
            #expect(try await roundTrip(client, "bool", .null).boolOrNull(0) == nil)
            #expect(try await roundTrip(client, "int8", .null).int8OrNull(0) == nil)
            #expect(try await roundTrip(client, "text", .null).textOrNull(0) == nil)
            #expect(try await roundTrip(client, "bytea", .null).bytesOrNull(0) == nil)
            #expect(try await roundTrip(client, "uuid", .null).uuidOrNull(0) == nil)
            let row = try await roundTrip(client, "int4", .null)
            #expect(row.isNull(0))
            #expect(throws: PostgresError.decoding("column 0 is NULL")) { try row.int4(0) }
            #expect(throws: PostgresError.self) { try row.int8OrNull(0) }
            let nullInside = try await roundTrip(client, "int4[]", .int4s([nil]))
            #expect(throws: PostgresError.self) { try nullInside.int4s(0) }
        }
    }

    @Test("of another type, shape or column is an error and no crash")
    func wrong() async throws {
        try await withClient(connections: 1) { client in
            let row = try #require(
                try await client.run(
                    "select 1::int8, 'x'::text, '{{1,2},{3,4}}'::int4[], 'infinity'::timestamptz, 1.5::numeric"
                ).first)
            #expect(throws: PostgresError.self) { try row.int4(0) }
            #expect(throws: PostgresError.self) { try row.uuid(1) }
            #expect(throws: PostgresError.self) { try row.int4s(1) }
            #expect(throws: PostgresError.self) { try row.int4s(2) }
            #expect(throws: PostgresError.self) { try row.timestamp(3) }
            #expect(throws: PostgresError.self) { try row.text(4) }
            #expect(throws: PostgresError.self) { try row.text(5) }
            #expect(throws: PostgresError.self) { try row.text(-1) }
            #expect(row.isNull(99))
        }
    }

    @Test("that PostgreSQL cannot hold is its error, and the next statement is fine")
    func refused() async throws {
        try await withClient(connections: 1) { client in
            for parameter in [Parameter.text("a\0b"), .json([0xff, 0xfe])] {
                do {
                    _ = try await client.run("select $1::text", [parameter])
                    Issue.record("the server accepted it")
                } catch PostgresError.server(let error) {
                    #expect(error.sqlState == "22021")
                    #expect(!"\(error)".contains("0x"))
                }
            }
            for parameter in [Parameter.int8(1), .int4s([1]), .bytes([1, 2])] {
                await #expect(throws: PostgresError.self) { try await client.run("select $1::uuid[]", [parameter]) }
            }
            #expect(try await client.run("select 1").first?.int4(0) == 1)
        }
    }

    @Test("stays readable after its client is gone")
    func outlives() async throws {
        var kept: Rows?
        try await withClient { client in kept = try await client.run("select generate_series(1, 3)") }
        #expect(try kept?.map { try $0.int4(0) } == [1, 2, 3])
    }
}
