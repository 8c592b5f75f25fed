// Parameters' and values' binary forms, without a server. Round trips through one are in `RoundTripTests`.

import FoundationEssentials
import Testing

@testable import Postgres

@Suite("Encoding", .timeLimit(.minutes(1)))
struct Encoding {
    /// The bytes of one parameter; nil is NULL.
    func encode(_ parameter: Parameter) throws -> [UInt8]? {
        let encoded = try EncodedParameters([parameter])
        let place = try #require(encoded.places.first)
        return place.length < 0 ? nil : Array(encoded.bytes[place.offset..<place.offset + Int(place.length)])
    }

    @Test("writes numbers big-endian")
    func numbers() throws {
        #expect(try encode(.int2(-2)) == [0xff, 0xfe])
        #expect(try encode(.int4(258)) == [0, 0, 1, 2])
        #expect(try encode(.int8(.min)) == [0x80, 0, 0, 0, 0, 0, 0, 0])
        #expect(try encode(.bool(true)) == [1])
    }

    @Test("distinguishes an empty value from NULL by its address")
    func emptyAndNull() throws {
        #expect(try encode(.null) == nil)
        #expect(try encode(.text("")) == [])
        let encoded = try EncodedParameters([.bytes([]), .null])
        encoded.withPointers { count, values, lengths, formats in
            #expect(count == 2)
            #expect(values?[0] != nil && lengths?[0] == 0)
            #expect(values?[1] == nil)
            #expect(formats?[0] == 1 && formats?[1] == 1)
        }
    }

    @Test("points at nothing when there are no parameters")
    func none() throws {
        try EncodedParameters([]).withPointers { count, values, _, _ in
            #expect(count == 0 && values == nil)
        }
    }

    @Test("counts time from 2000, and survives the ends of the range")
    func time() throws {
        #expect(try encode(.timestamp(microsSince1970: 946_684_800_000_001)) == [0, 0, 0, 0, 0, 0, 0, 1])
        #expect(try encode(.timestamp(microsSince1970: .min)) == [0x80, 0, 0, 0, 0, 0, 0, 0])
        #expect(try encode(.timestamp(microsSince1970: .max)) != nil)
    }

    @Test("writes arrays with their element type, length and NULLs")
    func arrays() throws {
        #expect(
            try encode(.int2s([7, nil])) == [
                0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 21, 0, 0, 0, 2, 0, 0, 0, 1,
                0, 0, 0, 2, 0, 7, 0xff, 0xff, 0xff, 0xff,
            ])
        #expect(try encode(.texts([])) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 25])
    }

    @Test("refuses more parameters than the protocol can count")
    func refusesTooMany() {
        #expect(throws: PostgresError.decoding("more than 65535 parameters")) {
            try EncodedParameters(Array(repeating: .null, count: 65_536))
        }
    }

    @Test("reads back what it wrote as an array, and refuses anything cut off or longer")
    func readsArrays() throws {
        let whole = try #require(try encode(.texts(["a", nil, "", "bc"])))
        for count in 0...whole.count + 1 {
            let bytes = count <= whole.count ? Array(whole[..<count]) : whole + [0]
            let values: [String?]? = bytes.withUnsafeBytes { buffer in
                guard var array = BinaryArray(buffer) else { return nil }
                var values: [String?] = []
                while let element = array.next() {
                    switch element {
                    case .null: values.append(nil)
                    case .value(let bytes): values.append(String(binary: bytes))
                    }
                }
                return array.isWhole ? values : nil
            }
            #expect(values == (count == whole.count ? ["a", nil, "", "bc"] : nil), "\(count) bytes")
        }
    }

    @Test("names a statement after its SQL, so that two releases never share a name")
    func names() {
        let (old, new) = (Statement("get", "select 1"), Statement("get", "select 2"))
        #expect(old != new)
        #expect(old.serverName != new.serverName)
        #expect(old.serverName == Statement("get", "select 1").serverName)
        #expect(Statement(String(repeating: "x", count: 100), "select 1").serverName.utf8.count < 63)
    }
}
