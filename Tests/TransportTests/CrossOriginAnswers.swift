// The headers for browsers: which pages may read an answer, and what browsers must not do with it.

import HTTPTypes
import NIOCore
import Testing

@testable import Transport

@Suite("The headers for browsers", .timeLimit(.minutes(1)))
struct CrossOriginAnswers {
    private static func get(_ origin: String?, _ line: String = "GET / HTTP/1.1") -> String {
        "\(line)\r\nHost: x\r\n\(origin.map { "Origin: \($0)\r\n" } ?? "")\r\n"
    }

    @Test("forbid sniffing, caching and referrers, and name no origin unless some are allowed")
    func off() async throws {
        try await withServer(handler: echo) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.get("https://a.example"))
            let headers = try await client.answer().headers
            #expect(!headers.keys.contains { $0.hasPrefix("access-control") || $0 == "vary" })
            #expect(headers["x-content-type-options"] == "nosniff" && headers["referrer-policy"] == "no-referrer")
            #expect(headers["cache-control"] == "no-store" && headers["strict-transport-security"] == nil)
        }
    }

    @Test("keep the Cache-Control of the handler")
    func kept() async throws {
        try await withServer(handler: {
            $1.send(OutboundResponse(status: .ok, headers: [.cacheControl: "max-age=60"]))
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.get(nil) + Self.get(nil, "HEAD / HTTP/1.1"))
            #expect(try await client.answer().headers["cache-control"] == "max-age=60")
            #expect(try await client.answer(toHead: true).headers["cache-control"] == "max-age=60")
        }
    }

    @Test("allow exactly the configured origins, also on refusals and streams")
    func listed() async throws {
        let first = "https://a.example"
        let second = "http://localhost:3000"
        try await withServer(
            { $0.crossOrigin = CrossOriginPolicy(origins: [first, second]) },
            handler: { request, reply in
                guard request.path == "/stream" else { return echo(request, reply) }
                let stream = reply.stream(.ok, headers: [:])
                stream.send(ByteBuffer(string: "piece"))
                stream.end()
            }
        ) { server in
            for (origin, isLetIn) in [
                (first, true), (second, true), (nil, false), ("https://b.example", false), ("null", false),
                ("https://a.example.evil.example", false), ("https://A.example", false), ("https://a.example:1", false),
                ("http://a.example", false), ("*", false), (first + "/", false), ("\(first), \(first)", false),
            ] {
                for line in ["GET / HTTP/1.1", "GET /stream HTTP/1.1", "POST / HTTP/1.1\r\nContent-Length: 9999999"] {
                    let client = try await RawClient.connect(server.port)
                    try await client.send(Self.get(origin, line))
                    let headers = try await client.answer().headers
                    #expect(headers["access-control-allow-origin"] == (isLetIn ? origin : nil), "\(line)")
                    #expect(headers["access-control-expose-headers"]?.contains("Retry-After") == (isLetIn ? true : nil))
                    #expect(headers["vary"] == "Origin" && headers["access-control-allow-credentials"] == nil)
                }
            }
        }
    }

    @Test("allow any origin if so configured")
    func any() async throws {
        try await withServer({ $0.crossOrigin = CrossOriginPolicy(origins: ["*"]) }, handler: echo) { server in
            let client = try await RawClient.connect(server.port)
            for origin in [nil, "https://a.example", "null"] {
                try await client.send(Self.get(origin))
                let headers = try await client.answer().headers
                #expect(headers["access-control-allow-origin"] == "*" && headers["vary"] == nil)
            }
        }
    }

    @Test("are right for each of many clients that get the same answer")
    func shared() async throws {
        let parked = Collected<Reply>()
        let origins = ["https://a.example", nil, "https://b.example", "https://a.example", nil, "https://c.example"]
        try await withServer(
            {
                $0.crossOrigin = CrossOriginPolicy(origins: ["https://a.example", "https://b.example"])
                $0.threadCount = 1
            }, handler: { parked.add($1) }
        ) { server in
            var clients: [RawClient] = []
            var replies: [Reply] = []
            for origin in origins {
                let client = try await RawClient.connect(server.port)
                try await client.send(Self.get(origin))
                clients.append(client)
                replies.append(try await parked.next())
            }
            sendAll([(text("the same"), replies)])
            for (client, origin) in zip(clients, origins) {
                let answer = try await client.answer()
                #expect(answer.body == "the same")
                let isLetIn = origin != nil && origin != "https://c.example"
                #expect(answer.headers["access-control-allow-origin"] == (isLetIn ? origin : nil))
            }
        }
    }
}
