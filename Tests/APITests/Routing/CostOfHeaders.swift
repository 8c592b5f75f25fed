// Hand-written header parsers: their results, and that 32 KiB of hostile bytes cost only a few passes. Each cost is
// compared with one plain pass in the same run, so the test holds in debug builds and on slow machines.
import Basics
import Domain
import HTTPTypes
import Testing
import Transport

@testable import API

@Suite("Header values", .timeLimit(.minutes(1)))
struct ReadingHeaders {
    @Test(
        "show whether a client accepts event streams",
        arguments: [
            ("text/event-stream", true), ("TEXT/Event-Stream", true), (" text/event-stream ;q=1", true),
            ("application/json, text/event-stream;q=0.5", true), ("text/event-stream;a=b;q=0.01", true),
            ("text/event-stream;q=0", false), ("text/event-stream; q=0.000", false),
            ("text/event-stream;Q = 0.", false),
            ("text/event-stream;q=0, text/event-stream", true), ("text/event-streams", false), ("*/*", false),
            ("text/*, application/json;q=0.9", false), ("text/event-stream;q=00", true), ("", false),
            (String(repeating: "a/b,", count: 16) + "text/event-stream", false),
            (String(repeating: "a/b,", count: 15) + "text/event-stream", true),
        ])
    func accept(_ header: String, _ expected: Bool) {
        #expect(EventStreams.areAccepted(by: header) == expected)
    }

    @Test(
        "hold the seconds of a preference to wait",
        arguments: [
            ("wait=5", 5), ("respond-async, wait = 7;x=y", 7), ("WAIT=0", 0), ("wait=-3", -3), ("wait", nil),
            ("wait=, wait=9", 9), ("wait=99999999999999", nil), ("awaits=1", nil), ("", nil), (",,,wait=4", 4),
        ] as [(String, Int?)])
    func prefer(_ header: String, _ expected: Int?) {
        #expect(PreferHeader.waitS(in: header) == expected)
    }

    @Test(
        "hold a bearer token",
        arguments: [
            ("Bearer abc", "abc"), ("bearer   abc", "abc"), ("BEARER a b", "a b"), ("Bearer", nil), ("Bearerabc", nil),
            ("Basic abc", nil), ("", nil), ("Bearer " + String(repeating: "a", count: 2_000), nil),
        ] as [(String, String?)])
    func bearer(_ header: String, _ expected: String?) {
        #expect(AuthorizationHeader.bearerToken(in: header) == expected.map { $0[...] })
    }
}

@Suite("The cost of hostile headers", .serialized, .timeLimit(.minutes(1)))
struct CostOfHeaders {
    private static let byteCount = 32 * 1024
    /// The limit, in passes over the bytes by a plain loop. A regular expression for each part would need thousands.
    private static let passCountMax = 60.0

    /// The shapes that make readers work: separators, parameters, combining characters, nearly valid values.
    private static let shapes = [
        ",", ";", " ", "\t", "=", "&", "/", "%", "%41", "a", ";a", ",a", "a;", "q=0,", ";q=0", ";q=0.", "wait=,",
        "wait;",
        "e\u{301}", "\u{1F468}\u{200D}", "\u{FFFD}", "\u{212A}", "text/event-stream;q=0,", "10.0.0.1,", ":", "[",
        "a=b&", "/v1",
    ]

    private static let hostile: [String] = shapes.flatMap { shape in
        let text = String(repeating: shape, count: byteCount / shape.utf8.count)
        return [text, "text/event-stream" + text, "Bearer " + text]
    }

    /// Returns the shortest time of several runs.
    private func time(_ body: () -> Void) -> Duration {
        (0..<5).map { _ in ContinuousClock().measure(body) }.min() ?? .zero
    }

    private func expectCheap(_ what: String, _ read: (String) -> Void) {
        for header in Self.hostile {
            var sum = 0
            let pass = time { for byte in header.utf8 { sum &+= Int(byte) } }
            let passes = time { read(header) } / max(pass, .microseconds(20))
            #expect(passes <= Self.passCountMax, "\(what): \(passes) passes for \(header.prefix(40))… (\(sum))")
        }
    }

    @Test("is bounded in each header")
    func headers() throws {
        let proxies = TrustedProxies([try #require(AddressRange(parsing: "10.0.0.0/8"))])
        let peer = IPAddress(parsing: "10.1.2.3")
        expectCheap("Accept") { _ = EventStreams.areAccepted(by: $0) }
        expectCheap("Prefer") { _ = PreferHeader.waitS(in: $0) }
        expectCheap("Authorization") { _ = AuthorizationHeader.bearerToken(in: $0) }
        expectCheap("Content-Type") { _ = ContentTypeHeader.isJSON($0) }
        expectCheap("Last-Event-ID") { _ = try? EventStreams.lastSeen($0) }
        expectCheap("X-Forwarded-For") { _ = proxies.client(peer: peer, forwarded: [$0]) }
        let origins = CrossOriginPolicy(origins: ["https://chat.example"])
        expectCheap("Origin") { _ = origins.allows($0) }
    }

    @Test("is bounded in the query and the path")
    func targets() async throws {
        let table = RouteTable(try await TestNode.shared().routes)
        expectCheap("query of a poll") { _ = try? SyncQuery($0[...]) }
        expectCheap("query of a list") { text in
            var query = Fields(query: text[...])
            _ = query.pageRequest()
            _ = query.optional("before", HistoryBound.self)
            _ = try? query.end()
        }
        expectCheap("path") { text in
            _ = table.find(.get, text[...])
            _ = table.find(.get, "/v1/users/" + text)
            _ = table.find(.get, "/" + String(repeating: "a/", count: Self.byteCount / 2))
        }
    }
}
