// RFC 3339 in, UTC milliseconds out.
import Domain
import TestSupport
import Testing

@Suite("Timestamps", .timeLimit(.minutes(1)))
struct Timestamps {
    @Test(
        "reads RFC 3339 with any fraction and offset",
        arguments: [
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"),
            ("2026-11-21T10:00:00.123Z", "2026-11-21T10:00:00.123Z"),
            ("2026-11-21T10:00:00.1239999Z", "2026-11-21T10:00:00.123Z"),
            ("2026-11-21t10:00:00z", "2026-11-21T10:00:00.000Z"),
            ("2026-11-21 10:00:00Z", "2026-11-21T10:00:00.000Z"),
            ("2026-11-21T10:00:00+05:30", "2026-11-21T04:30:00.000Z"),
            ("2026-12-31T23:30:00-01:00", "2027-01-01T00:30:00.000Z"),
            ("2024-02-29T12:00:00Z", "2024-02-29T12:00:00.000Z"), ("2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"),
            ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
            ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"), ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"),
            ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
        ])
    func reads(_ text: String, _ expected: String) throws {
        let timestamp = try #require(Timestamp(parsing: text))
        #expect(timestamp.description == expected)
    }

    @Test("counts microseconds")
    func countsMicroseconds() {
        #expect(Timestamp(parsing: "1970-01-01T00:00:01.000001Z")?.microsSince1970 == 1_000_001)
        #expect(Timestamp(parsing: "2001-09-09T01:46:40Z")?.microsSince1970 == 1_000_000_000_000_000)
        #expect(Timestamp(parsing: "1969-12-31T23:59:59.5Z")?.microsSince1970 == -500_000)
    }

    @Test(
        "refuses everything else",
        arguments: [
            "", "2026", "2026-11-21", "2026-11-21T10:00", "2026-11-21T10:00:00", "2026-11-21T10:00:00.Z",
            "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
            "2026-04-31T00:00:00Z", "2026-11-00T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T10:60:00Z",
            "2026-11-21T10:00:61Z", "2026-11-21T10:00:00+24:00", "2026-11-21T10:00:00+0100", "2026-11-21T10:00:00Z ",
            "2026-11-21T10:00:00ZZ", "0000-01-01T00:00:00Z", "-026-11-21T10:00:00Z", "+2026-11-21T10:00:00Z",
        ])
    func refuses(_ text: String) {
        #expect(Timestamp(parsing: text) == nil)
    }

    @Test("comes back the same over ten thousand years")
    func roundTrips() throws {
        var random = SplitMix64(freshFor: "timestamps")
        for _ in 0..<5_000 {
            let millis = Int64.random(in: -62_135_596_800_000...253_402_300_799_999, using: &random)
            let timestamp = Timestamp(microsSince1970: millis * 1_000)
            #expect(Timestamp(parsing: timestamp.description) == timestamp)
        }
    }

    @Test("bounds a page by seq, message or time")
    func readsBounds() throws {
        func bound(_ text: String) throws -> HistoryBound { try HistoryBound(text: text) }
        guard case .seq(Seq(42)) = try bound("42") else { return _ = Issue.record("no seq") }
        guard case .message = try bound(MessageID.make().description) else { return _ = Issue.record("no id") }
        for text in ["1970-01-01T01:00:00+01:00", "1970-01-01T01:00:00 01:00", "1970-01-01T00:00:00Z"] {
            guard case .time(microsSince1970: 0) = try bound(text) else { return _ = Issue.record("no time") }
        }
        for text in ["", "-1", "1.5", "99999999999999999999", "newest", "1970-01-01", "+1"] {
            #expect(throws: Invalid.self) { try bound(text) }
        }
    }
}
