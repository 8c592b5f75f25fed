// A request is answered before its body if the head is enough. No byte of that body is read as a request.

import HTTPTypes
import NIOCore
import TestBasics
import Testing

@testable import Transport

@Suite("Deciding by the head", .timeLimit(.minutes(1)))
struct DecidingByTheHead {
    private static let second = "GET /second HTTP/1.1\r\nHost: x\r\n\r\n"

    /// Accepts no body for `/no`, 100 bytes for `/small`, and any body for other paths.
    private static let decide: @Sendable (InboundRequest) -> BodyDecision = { head in
        #expect(head.body.readableBytes == 0)
        switch head.target {
        case "/no": return .answer(OutboundResponse(status: .notFound, body: ByteBuffer(string: "no")))
        case "/small": return .accept(byteCountMax: 100)
        default: return .accept(byteCountMax: .max)
        }
    }

    private static func post(_ path: String, _ headers: String) -> String {
        "POST \(path) HTTP/1.1\r\nHost: x\r\n\(headers)\r\n\r\n"
    }

    private func withClient(
        _ change: (inout TransportSettings) -> Void = { _ in },
        _ body: (RawClient, HTTPServer) async throws -> Void
    ) async throws {
        try await withServer(change, handler: echo, decide: Self.decide) { server in
            try await body(try await RawClient.connect(server.port), server)
        }
    }

    @Test("answers before the body, drops a small body, and continues with the next request")
    func dropsSmallBodies() async throws {
        try await withClient { client, server in
            // The dropped body looks like a request on purpose.
            let body = "GET /evil HTTP/1.1\r\nHost: x\r\n\r\n"
            try await client.send(Self.post("/no", "Content-Length: \(body.utf8.count)"))
            let answer = try await client.answer()
            #expect(answer.status == 404 && answer.body == "no" && answer.headers["connection"] == nil)
            try await client.send(body + Self.second)
            #expect(try await client.answer().body == "GET /second ")
            #expect(server.statistics.requests == 1)
        }
    }

    @Test("also drops the part of the body that arrived before the answer")
    func dropsFirstPart() async throws {
        try await withClient { client, server in
            try await client.send(Self.post("/no", "Content-Length: 10") + "01234")
            #expect(try await client.answer().status == 404)
            try await client.send("56789" + Self.second)
            #expect(try await client.answer().body == "GET /second ")
            #expect(server.statistics.bodyBytes == 0)
        }
    }

    @Test(
        "closes if the body is large, chunked or follows 100-continue, and serves nothing after it",
        arguments: [
            "Content-Length: 100000", "Transfer-Encoding: chunked", "Content-Length: 5\r\nExpect: 100-continue",
        ])
    func closes(headers: String) async throws {
        try await withClient { client, server in
            try await client.send(Self.post("/no", headers))
            let answer = try await client.answer()
            #expect(answer.status == 404 && answer.headers["connection"] == "close")
            try await client.send(Self.second)
            #expect(try await client.rest() == "")
            #expect(server.statistics.requests == 0)
        }
    }

    @Test("closes after the answer to a client that does not keep the connection")
    func closesWhenAsked() async throws {
        try await withClient { client, _ in
            try await client.send(Self.post("/no", "Content-Length: 5\r\nConnection: close"))
            #expect(try await client.answer().headers["connection"] == "close")
            #expect(try await client.rest() == "")
        }
    }

    @Test("sends 100 Continue once for an accepted body")
    func continues() async throws {
        try await withClient { client, _ in
            try await client.send(Self.post("/small", "Content-Length: 2\r\nExpect: 100-continue"))
            #expect(try await client.expect("HTTP/1.1 100 Continue\r\n\r\n"))
            try await client.send("ok")
            #expect(try await client.answer().body == "POST /small ok")
        }
    }

    @Test("refuses a declared length above the limit, before the body")
    func refusesDeclared() async throws {
        try await withClient { client, server in
            try await client.send(Self.post("/small", "Content-Length: 101"))
            #expect(try await client.answer().status == 413)
            try await client.send(String(repeating: "x", count: 101) + Self.second)
            #expect(try await client.answer().body == "GET /second ")
            #expect(server.statistics.requests == 1)
        }
    }

    @Test("refuses chunks above the limit, and closes")
    func refusesChunks() async throws {
        try await withClient { client, _ in
            try await client.send(Self.post("/small", "Transfer-Encoding: chunked") + "32\r\n")
            try await client.send(String(repeating: "x", count: 50) + "\r\n33\r\n" + String(repeating: "x", count: 51))
            let answer = try await client.answer()
            #expect(answer.status == 413 && answer.headers["connection"] == "close")
            #expect(try await client.rest() == "")
        }
    }

    @Test("passes a request that arrived whole to the handler")
    func wholeRequests() async throws {
        try await withClient { client, _ in
            try await client.send(Self.post("/no", "Content-Length: 2") + "ok")
            #expect(try await client.answer().body == "POST /no ok")
        }
    }

    @Test("decides about a pipelined request when its turn comes")
    func pipelined() async throws {
        let parked = Collected<Reply>()
        try await withServer(handler: { parked.add($1) }, decide: Self.decide) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(
                "GET /first HTTP/1.1\r\nHost: x\r\n\r\n" + Self.post("/no", "Content-Length: 3") + "a")
            try await parked.next().send(text("first"))
            #expect(try await client.answer().body == "first")
            #expect(try await client.answer().body == "no")
            try await client.send("bc" + Self.second)
            try await parked.next().send(text("second"))
            #expect(try await client.answer().body == "second")
        }
    }

    @Test("closes when the rest of a dropped body is late")
    func droppedTimeout() async throws {
        try await withClient({ $0.bodyTimeout = .milliseconds(50) }) { client, _ in
            try await client.send(Self.post("/no", "Content-Length: 5") + "x")
            #expect(try await client.answer().status == 404)
            #expect(try await client.rest() == "")
        }
    }
}

@Suite("The bodies of all clients together", .timeLimit(.minutes(1)))
struct BodiesTogether {
    private static func head(_ byteCount: Int) -> String {
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(byteCount)\r\n\r\n"
    }

    private static func letters(_ count: Int) -> String { String(repeating: "a", count: count) }

    @Test("have a limit: the largest incomplete one is refused, the others continue, and all are released")
    func bounded() async throws {
        try await withServer(
            {
                $0.threadCount = 1
                $0.incomingTotalByteCountMax = 1_000_000
            }, handler: { request, reply in reply.send(text("\(request.body.readableBytes)")) }
        ) { server in
            var small: [RawClient] = []
            for _ in 0..<5 {
                let client = try await RawClient.connect(server.port)
                try await client.send(Self.head(100_001) + Self.letters(100_000))
                small.append(client)
            }
            try await eventually("the small bodies are counted") { server.statistics.bodyBytes >= 500_000 }
            let large = try await RawClient.connect(server.port)
            try await large.send(Self.head(800_000) + Self.letters(600_000))
            let refusal = try await large.answer()
            #expect(refusal.status == 503 && refusal.headers["connection"] == "close")
            #expect(server.statistics.bodiesRefused == 1)
            for client in small {
                try await client.send("b")
                #expect(try await client.answer().body == "100001")
            }
            #expect(server.statistics.bodyBytes == 0)
        }
    }

    @Test("count until the answer if they are large, and not if they are small and arrived whole")
    func counted() async throws {
        let parked = Collected<Reply>()
        try await withServer(handler: { parked.add($1) }) { server in
            let large = try await RawClient.connect(server.port)
            try await large.send(Self.head(50_000) + Self.letters(50_000))
            let reply = try await parked.next()
            try await eventually("the body is counted") { server.statistics.bodyBytes == 50_000 }
            let small = try await RawClient.connect(server.port)
            try await small.send(Self.head(100) + Self.letters(100))
            try await parked.next().send(text("ok"))
            #expect(try await small.answer().body == "ok")
            #expect(server.statistics.bodyBytes == 50_000)
            reply.send(text("ok"))
            #expect(try await large.answer().body == "ok")
            #expect(server.statistics.bodyBytes == 0)
        }
    }

    @Test("are released when their connection breaks")
    func broken() async throws {
        try await withServer(handler: echo) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.head(100_000) + Self.letters(50_000))
            try await eventually("the body is counted") { server.statistics.bodyBytes == 50_000 }
            try await client.reset()
            try await eventually("no body is counted") { server.statistics.bodyBytes == 0 }
        }
    }

    @Test("are returned to the system after a large peak, at most every ten seconds")
    func memory() {
        var memory = MemoryReturn()
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
        let peak = 4 * MemoryReturn.peakByteCountMin
        let later = start + MemoryReturn.interval
        for (byteCount, now, expected) in [
            (MemoryReturn.peakByteCountMin - 1, start, false), (0, start, false), (peak, start, false),
            (peak / 2, start, false), (peak / 8, start, true), (0, start, false), (peak, start, false),
            (0, later - .seconds(1), false), (0, later, true), (0, later + MemoryReturn.interval, false),
        ] {
            let isDue = memory.isDue(byteCount: byteCount, now: now)
            #expect(isDue == expected)
        }
    }
}
