// How TLS connections end: by either side, in time, and by what a client does wrong.

import NIOCore
import TestBasics
import Testing

@testable import Transport

@Suite("Ends of TLS connections", .timeLimit(.minutes(1)))
struct TLSEnds {
    @Test(
        "in the middle of a body are an error of the body", arguments: TLSGround.versions,
        ["fin", "close_notify", "reset"])
    func truncation(version: String, end: String) async throws {
        let ground = try await TLSGround()
        let started = Collected<Void>()
        let received = Collected<Received>()
        try await withUploadServer(
            { $0.tls = ground.identity },
            consume: { request, reply in
                var isFirst = true
                received.add(
                    await Received(request) { _ in
                        if isFirst { started.add(()) }
                        isFirst = false
                    })
                reply.send(text("late"))
            }
        ) { server in
            let client = try await ground.start("truncated", [version, end], of: server)
            try await started.next()
            try client.proceed()
            let body = try await received.next()
            #expect(body.error == .clientGone)
            #expect(body.bytes == ByteBuffer(string: String(repeating: "x", count: 500)))
            #expect(try await client.end() == (end == "reset" ? [] : ["True"]))
        }
    }

    @Test("let a client read its last answer", arguments: TLSGround.versions)
    func lastAnswer(version: String) async throws {
        let ground = try await TLSGround()
        try await withTLSServer(ground) { server in
            #expect(try await ground.client("half_closed", version, of: server) == ["200 GET /last ", "b''"])
            #expect(try await ground.client("closing", version, of: server) == ["200 b''"])
            try await eventually("both are closed") { server.statistics.connectionsOpen == 0 }
        }
    }

    @Test("follow bytes that are no record, and bytes after the client's close", arguments: TLSGround.versions)
    func garbage(version: String) async throws {
        let ground = try await TLSGround()
        try await withTLSServer(ground) { server in
            #expect(try await ground.client("garbage", version, of: server) == ["True"])
            #expect(try await ground.client("after_close_notify", version, of: server) == ["200", "True"])
            try await eventually("both are closed") { server.statistics.connectionsOpen == 0 }
            #expect(server.statistics.requests == 2)
            #expect(server.statistics.failures == 0)
        }
    }

    @Test("come when a handshake takes longer than the first request may", arguments: [false, true])
    func stalledHandshake(sendsSomething: Bool) async throws {
        let ground = try await TLSGround()
        try await withTLSServer(ground, { $0.headerTimeout = .milliseconds(50) }) { server in
            let client = try await RawClient.connect(server.port)
            if sendsSomething { try await client.send(bytes: ByteBuffer(bytes: [0x16, 3, 1, 0, 200, 1, 0])) }
            #expect(try await client.rest() == "")
            try await eventually("the server has closed it") { server.statistics.connectionsOpen == 0 }
            #expect(server.statistics.timeouts == 1)
            #expect(server.statistics.requests == 0)
        }
    }

    @Test("come when a client asks for another handshake")
    func renegotiation() async throws {
        let ground = try await TLSGround()
        try await withTLSServer(ground) { server in
            let output = try await TLSGround.openssl(
                ["s_client", "-connect", "127.0.0.1:\(server.port)", "-tls1_2"], input: "R\n", mayFail: true)
            #expect(output.contains("RENEGOTIATING"), "\(output)")
            #expect(output.contains("no renegotiation"), "\(output)")
            try await eventually("it is closed") { server.statistics.connectionsOpen == 0 }
        }
    }

    @Test("come when a client asks for new keys and reads nothing")
    func keyUpdates() async throws {
        let ground = try await TLSGround()
        let requests = Collected<Void>()
        let body = pattern(10_000_000)
        try await withTLSServer(
            ground,
            handler: { _, reply in
                reply.send(OutboundResponse(status: .ok, body: body))
                requests.add(())
            }
        ) { server in
            let client = try await ground.start("unread_keys", of: server)
            try await requests.next()
            try client.proceed()
            #expect(try await client.end() == ["closed"])
            try await eventually("it is closed") { server.statistics.connectionsOpen == 0 }
            #expect(server.statistics.timeouts == 0)
        }
    }
}
