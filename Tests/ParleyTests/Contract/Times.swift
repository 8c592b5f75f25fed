// Times, compared with Foundation's.

import Foundation
import Testing

@testable import Parley

@Suite("A time", .timeLimit(.minutes(1)))
struct Times {
    @Test("is what Foundation reads", arguments: [-11_600_000_000, -1, 0, 951_782_399, 951_868_800, 1_795_255_200])
    func foundation(_ second: Int) throws {
        for offset in 0..<200 {
            let date = Date(timeIntervalSince1970: Double(second + offset * 86_399))
            let text = date.formatted(.iso8601)
            #expect(Date(rfc3339: text) == date, "\(text)")
            #expect(date.rfc3339 == text.dropLast() + ".000Z")
        }
    }

    @Test("keeps its milliseconds")
    func milliseconds() {
        for count in 0..<1000 {
            let digits = String(1000 + count).dropFirst()
            let text = "2026-11-21T10:00:00.\(digits)Z"
            #expect(Date(rfc3339: text)?.rfc3339 == text)
        }
    }

    @Test("of a mute without an end is a value of its own")
    func mutes() throws {
        func read(_ text: String) throws -> Mute {
            try JSONDecoder().decode([Mute].self, from: Data("[\"\(text)\"]".utf8))[0]
        }
        #expect(try read("9999-12-31T00:00:00.000Z") == .forever)
        #expect(try read("9999-01-01T00:00:00.000Z") == .forever)
        let last = try #require(Date(rfc3339: "9998-12-31T23:59:59.000Z"))
        #expect(try read("9998-12-31T23:59:59.000Z") == .until(last))
        #expect(throws: DecodingError.self) { try read("never") }
        #expect(
            try String(decoding: JSONEncoder().encode([Mute.forever]), as: UTF8.self)
                == #"["9999-12-31T00:00:00.000Z"]"#)
        #expect(OwnMembership(mute: .forever).isMuted() && OwnMembership(mute: .until(.now + 60)).isMuted())
        #expect(!OwnMembership(mute: .until(.now - 60)).isMuted() && !OwnMembership().isMuted())
    }

    @Test("may have no fraction, or a longer one")
    func fractions() {
        let date = Date(timeIntervalSince1970: 1_795_255_200)
        #expect(Date(rfc3339: "2026-11-21T10:00:00Z") == date)
        #expect(Date(rfc3339: "2026-11-21T10:00:00.5Z") == date.addingTimeInterval(0.5))
        #expect(Date(rfc3339: "2026-11-21T10:00:00.123456789Z")?.rfc3339 == "2026-11-21T10:00:00.123Z")
        #expect(Date(rfc3339: "9999-12-31T23:59:59.999Z")?.rfc3339 == "9999-12-31T23:59:59.999Z")
    }

    @Test(
        "of another form is refused",
        arguments: [
            "", "2026-11-21", "2026-11-21T10:00:00", "2026-11-21T10:00:00+01:00", "2026-11-21 10:00:00Z",
            "2026-13-21T10:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T10:00:00.Z", "2026-11-21T10:00:00.0123456789Z",
            "2026-11-21T10:00:00.12xZ", "2026-1１-21T10:00:00Z", "+026-11-21T10:00:00Z",
        ])
    func refused(_ text: String) { #expect(Date(rfc3339: text) == nil) }
}
