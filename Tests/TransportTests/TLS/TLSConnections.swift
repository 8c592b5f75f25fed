// TLS with clients that are not ours: Python's ssl module and openssl.

import NIOCore
import TestBasics
import Testing

@testable import Transport

@Suite("TLS connections", .timeLimit(.minutes(1)))
struct TLSConnections {
    @Test(
        "use TLS 1.2 and 1.3, HTTP/1.1 by ALPN, and ciphers with forward secrecy", arguments: [false, true])
    func versions(usesRSA: Bool) async throws {
        let ground = usesRSA ? try await TLSGround(key: ["rsa:2048"]) : try await TLSGround()
        try await withTLSServer(ground) { server in
            let old = try await ground.client("get", "TLSv1_2", of: server)
            #expect(old.count == 1 && old[0].hasPrefix("TLSv1.2 http/1.1 ECDHE-"), "\(old)")
            #expect(old[0].hasSuffix(" 200 GET /a "))
            let new = try await ground.client("get", "TLSv1_3", of: server)
            #expect(new.count == 1 && new[0].hasPrefix("TLSv1.3 http/1.1 TLS_"), "\(new)")
            #expect(new[0].hasSuffix(" 200 GET /a "))
        }
    }

    @Test("refuse older versions, ciphers without authenticated encryption, and plain HTTP")
    func refusals() async throws {
        let ground = try await TLSGround()
        try await withTLSServer(ground) { server in
            for version in ["TLSv1", "TLSv1_1"] {
                let lines = try await ground.client("refused", version, of: server)
                #expect(lines == ["TLSV1_ALERT_PROTOCOL_VERSION"])
            }
            let cipher = try await ground.client("refused", "TLSv1_2_CBC", of: server)
            #expect(cipher == ["SSLV3_ALERT_HANDSHAKE_FAILURE"])
            let plain = try await RawClient.connect(server.port)
            try await plain.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            let rest = try await plain.rest()
            #expect(!rest.contains("HTTP"))
            try await eventually("all are closed") { server.statistics.connectionsOpen == 0 }
            #expect(server.statistics.requests == 0)
            #expect(try await ground.client("get", "TLSv1_3", of: server).count == 1)
        }
    }

    @Test("read records in pieces of any size", arguments: TLSGround.versions, [1, 7])
    func pieces(version: String, size: Int) async throws {
        let ground = try await TLSGround()
        try await withTLSServer(ground, handler: echoBytes) { server in
            let lines = try await ground.client("pieces", [version, "\(size)", "1500"], of: server)
            #expect(lines == ["200 True", "200 True"])
        }
    }

    @Test("answer pipelined requests of one record in order", arguments: TLSGround.versions)
    func pipelined(version: String) async throws {
        let ground = try await TLSGround()
        try await withTLSServer(ground) { server in
            let lines = try await ground.client("pipelined", [version, "100"], of: server)
            #expect(lines == ["True"])
        }
    }

    @Test("send 10 MB to a slow reader", arguments: TLSGround.versions)
    func largeAnswer(version: String) async throws {
        let ground = try await TLSGround()
        let body = pattern(10_000_000)
        try await withTLSServer(
            ground, handler: { _, reply in reply.send(OutboundResponse(status: .ok, body: body)) }
        ) { server in
            let lines = try await ground.client("slow", [version, "10000000"], of: server)
            #expect(lines == ["200 True"])
        }
    }

    @Test("receive a body of 5 MB", arguments: TLSGround.versions)
    func largeBody(version: String) async throws {
        let ground = try await TLSGround()
        try await withUploadServer({ $0.tls = ground.identity }, consume: answerWhetherPattern) { server in
            let lines = try await ground.client("upload", [version, "5000000"], of: server)
            #expect(lines == ["200 5000000 true"])
        }
    }

    @Test("continue with new keys when a client asks for them")
    func keyUpdate() async throws {
        let ground = try await TLSGround()
        try await withTLSServer(ground) { server in
            let lines = try await ground.client("new_keys", of: server)
            #expect(lines == ["True"])
        }
    }

    @Test("resume sessions by tickets, until the key of the tickets is renewed", arguments: TLSGround.versions)
    func tickets(version: String) async throws {
        let ground = try await TLSGround()
        try await withTLSServer(ground) { server in
            let client = try await ground.start("resume", [version], of: server)
            try await eventually("two connections") { try client.lines.count == 2 }
            try ground.identity.renewTicketKey()
            try client.proceed()
            #expect(try await client.end() == ["False", "True", "False"])
        }
    }

    @Test("free what they hold, however they end", arguments: TLSGround.versions)
    func memory(version: String) async throws {
        let ground = try await TLSGround()
        weak let first = ground.identity.context
        #expect(first != nil)
        try await withTLSServer(ground) { server in
            for _ in 0..<2 {
                #expect(try await ground.client("leave", [version, "50"], of: server) == ["left"])
            }
            try await eventually("all are closed") { server.statistics.connectionsOpen == 0 }
            try await eventually("all are freed") { ground.identity.context.sessionCount.load(ordering: .relaxed) == 0 }
            #expect(server.statistics.connectionsTotal == 100)
            try ground.identity.renewTicketKey()
            #expect(first == nil)
        }
    }
}

/// Answers with method, target and body, also if the body is no text.
@Sendable private func echoBytes(_ request: InboundRequest, _ reply: Reply) {
    var body = ByteBuffer(string: "\(request.method) \(request.target) ")
    body.writeImmutableBuffer(request.body)
    reply.send(OutboundResponse(status: .ok, body: body))
}

/// Reads the whole body, and answers with its size and whether it is the expected one.
@Sendable private func answerWhetherPattern(_ request: InboundRequest, _ reply: Reply) async {
    let bytes = await Received(request).bytes
    reply.send(text("\(bytes.readableBytes) \(bytes == pattern(bytes.readableBytes))"))
}
