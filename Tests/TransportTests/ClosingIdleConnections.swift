// When connections run out, the longest idle one is closed, never one with a request. Each address has a share.

import Basics
import NIOCore
import TestBasics
import Testing

@testable import Transport

@Suite("Connections closed for new ones", .timeLimit(.minutes(1)))
struct ClosingIdleConnections {
    private static let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

    /// A connection that is idle after a request.
    private func idle(_ port: Int, from address: String? = nil) async throws -> RawClient {
        let client = try await RawClient.connect(port, from: address)
        try await client.send(Self.request)
        #expect(try await client.answer().status == 200)
        return client
    }

    private func status(_ client: RawClient) async throws -> Int {
        try await client.send(Self.request)
        return try await client.answer().status
    }

    @Test("are the longest idle ones, on any event loop", arguments: [1, 2, 3])
    func longestIdle(threadCount: Int) async throws {
        try await withServer(
            {
                $0.connectionCountMax = 3
                $0.threadCount = threadCount
            }, handler: echo
        ) { server in
            var clients: [RawClient] = []
            for _ in 0..<3 { clients.append(try await idle(server.port)) }
            let newcomer = try await idle(server.port)
            #expect(server.statistics.connectionsDisplaced == 1 && server.statistics.connectionsRefused == 0)
            #expect(server.statistics.connectionsOpen == 3)
            if threadCount == 1 {
                #expect(try await clients[0].rest() == "")
                for client in clients.dropFirst() + [newcomer] { #expect(try await status(client) == 200) }
                // The second has just been used. Of the connections before the new one, the third has been idle longest.
                #expect(try await status(clients[1]) == 200)
                #expect(try await status(newcomer) == 200)
                _ = try await idle(server.port)
                #expect(try await clients[2].rest() == "")
            }
        }
    }

    @Test("never have a waiting request: the new connection is refused instead")
    func waiting() async throws {
        let parked = Collected<Reply>()
        try await withServer({ $0.connectionCountMax = 3 }, handler: { parked.add($1) }) { server in
            var waiting: [RawClient] = []
            for _ in 0..<3 {
                let client = try await RawClient.connect(server.port)
                try await client.send(Self.request)
                waiting.append(client)
            }
            let replies = await parked.take(3)
            let late = try await RawClient.connect(server.port)
            let refusal = try await late.answer()
            #expect(refusal.status == 503 && refusal.headers["connection"] == "close")
            #expect(try await late.rest() == "")
            for reply in replies { reply.send(text("ok")) }
            for client in waiting { #expect(try await client.answer().body == "ok") }
            #expect(server.statistics.connectionsDisplaced == 0 && server.statistics.connectionsRefused == 1)
        }
    }

    @Test("belong to the same address if that is above its share and the node is nearly full")
    func share() async throws {
        let parked = Collected<Reply>()
        try await withServer(
            { $0.connectionCountMax = 16 },
            handler: { request, reply in
                if request.target == "/wait" { parked.add(reply) } else { echo(request, reply) }
            }
        ) { server in
            // The first address uses 14 of 16 connections, with waiting requests.
            var waiting: [RawClient] = []
            for _ in 0..<14 {
                let client = try await RawClient.connect(server.port, from: "127.0.0.2")
                try await client.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
                waiting.append(client)
            }
            let replies = await parked.take(14)
            #expect(try await RawClient.connect(server.port, from: "127.0.0.2").answer().status == 503)
            // The last places are for other addresses.
            let first = try await idle(server.port, from: "127.0.0.3")
            let second = try await idle(server.port, from: "127.0.0.3")
            // This connection is not closed for an address above its share.
            #expect(try await RawClient.connect(server.port, from: "127.0.0.2").answer().status == 503)
            for client in [first, second] { #expect(try await status(client) == 200) }
            for reply in replies { reply.send(text("ok")) }
            for client in waiting { #expect(try await client.answer().body == "ok") }
            // Now the address has idle connections. The next search, some 50 ms after the last one, finds them.
            try await eventually("an idle connection makes way") {
                try await status(try await RawClient.connect(server.port, from: "127.0.0.2")) == 200
            }
            for client in [first, second] { #expect(try await status(client) == 200) }
        }
    }

    @Test(
        "do not depend on a trusted proxy's address, nor on any address if the share is off", arguments: [true, false])
    func noShare(isTrusted: Bool) async throws {
        let parked = Collected<Reply>()
        let loopback = try #require(AddressRange(parsing: "127.0.0.0/8"))
        try await withServer(
            {
                $0.connectionCountMax = 16
                if isTrusted {
                    $0.trustedProxies = TrustedProxies([loopback])
                } else {
                    $0.addressSharePercent = 100
                }
            }, handler: { parked.add($1) }
        ) { server in
            var clients: [RawClient] = []
            for _ in 0..<16 {
                let client = try await RawClient.connect(server.port)
                try await client.send(Self.request)
                clients.append(client)
            }
            for reply in await parked.take(16) { reply.send(text("ok")) }
            for client in clients { #expect(try await client.answer().body == "ok") }
        }
    }
}
