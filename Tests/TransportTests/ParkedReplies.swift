// Requests that wait for their answer: answered together, from any thread, or left by their clients.

import HTTPTypes
import NIOCore
import Synchronization
import TestBasics
import Testing

@testable import Transport

@Suite("Parked replies", .timeLimit(.minutes(1)))
struct ParkedReplies {
    private static let get = "GET /poll HTTP/1.1\r\nHost: x\r\n\r\n"

    /// What a handler observed when its client left.
    private struct Gone: Sendable {
        let isOnLoop: Bool
        let at = ContinuousClock.now
    }

    @Test("one call answers 2,000, each with its own bytes, and their connections stay open")
    func together() async throws {
        let parked = Collected<Reply>()
        let count = 2_000
        try await withServer(handler: { request, reply in
            if request.path == "/poll" { parked.add(reply) } else { echo(request, reply) }
        }) { server in
            var clients: [RawClient] = []
            for _ in 0..<count {
                let client = try await RawClient.connect(server.port)
                try await client.send(Self.get)
                clients.append(client)
            }
            let replies = await parked.take(count)
            #expect(server.statistics.connectionsOpen == count)
            sendAll(replies.enumerated().map { (text("event \($0)"), [$1]) })
            var bodies: Set<String> = []
            for client in clients { bodies.insert(try await client.answer().body) }
            #expect(bodies == Set((0..<count).map { "event \($0)" }))
            try await clients[count / 2].send("GET /next HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try await clients[count / 2].answer().body == "GET /next ")
            for client in clients { try await client.close() }
        }
    }

    @Test("a client that closes or resets is detected at once, on the event loop, and only once", arguments: [0, 1, 2])
    func gone(way: Int) async throws {
        let parked = Collected<Reply>()
        let gone = Collected<Gone>()
        let callCount = Atomic(0)
        try await withServer(handler: { _, reply in
            reply.onClientGone { [eventLoop = reply.eventLoop] in
                callCount.add(1, ordering: .relaxed)
                gone.add(Gone(isOnLoop: eventLoop.inEventLoop))
            }
            parked.add(reply)
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.get)
            let reply = try await parked.next()
            let start = ContinuousClock.now
            switch way {
            case 0: try await client.close()
            case 1: try await client.reset()
            default: try await client.closeOutput()
            }
            let seen = try await gone.next()
            #expect(seen.isOnLoop)
            #expect(seen.at - start < .seconds(1))
            #expect(reply.isClientGone)
            reply.send(text("too late"))
            #expect(server.statistics.clientsGone == 1)
            #expect(server.statistics.connectionsOpen == 0)
        }
        #expect(callCount.load(ordering: .relaxed) == 1)
    }

    @Test("a client that is gone is detected also while pipelined requests pause the reading")
    func goneWhilePaused() async throws {
        try await withParkingServer { server, parked, gone in
            let client = try await RawClient.connect(server.port)
            for _ in 0..<40 { try await client.send(Self.get) }
            let reply = try await parked.next()
            try await client.reset()
            try await gone.next()
            #expect(reply.isClientGone)
            #expect(server.statistics.requests == 1)
        }
    }

    @Test("a handler registered after the client has gone is called too")
    func registeredLate() async throws {
        try await withParkingServer { server, parked, gone in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.get)
            let reply = try await parked.next()
            try await client.close()
            try await gone.next()
            reply.onClientGone { gone.add(()) }
            try await gone.next()
        }
    }

    @Test("no handler is called for a client that leaves after its answer")
    func answeredBefore() async throws {
        let callCount = Atomic(0)
        try await withServer(handler: { _, reply in
            reply.onClientGone { callCount.add(1, ordering: .relaxed) }
            reply.send(text("ok"))
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.get)
            #expect(try await client.answer().body == "ok")
            try await client.close()
        }
        #expect(callCount.load(ordering: .relaxed) == 0)
    }

    @Test("a half-closed client still gets the answer to a request without a handler for its end")
    func halfClosed() async throws {
        let parked = Collected<Reply>()
        try await withServer(handler: { parked.add($1) }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.get + Self.get)
            try await client.closeOutput()
            try await parked.next().send(text("1"))
            try await parked.next().send(text("2"))
            #expect(try await client.answer().body == "1")
            #expect(try await client.answer().body == "2")
            #expect(try await client.rest() == "")
        }
    }

    @Test("a half-closed client is cut off after its grace")
    func halfCloseGrace() async throws {
        let parked = Collected<Reply>()
        try await withServer({ $0.halfCloseGrace = .milliseconds(50) }, handler: { parked.add($1) }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.get)
            try await client.closeOutput()
            let reply = try await parked.next()
            #expect(try await client.rest() == "")
            // The client may see the end a moment before the server's own thread has recorded it.
            try await eventually("the client is gone") { reply.isClientGone }
        }
    }

    #if DEBUG
        @Test("answering twice stops a debug build")
        func twice() async {
            await #expect(processExitsWith: .failure) {
                try await withServer(handler: { _, reply in
                    reply.send(text("1"))
                    reply.send(text("2"))
                }) { server in
                    let client = try await RawClient.connect(server.port)
                    try await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                    _ = try await client.rest()
                }
            }
        }
    #endif
}
