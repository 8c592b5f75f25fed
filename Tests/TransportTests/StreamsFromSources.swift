// Streams without a task: the source is asked when there is room, and is notified when the client leaves.

import HTTPTypes
import NIOCore
import Synchronization
import TestBasics
import Testing

@testable import Transport

@Suite("A stream from a source", .timeLimit(.minutes(1)))
struct StreamsFromSources {
    private static let get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    private static let pieceByteCount = 100_000

    /// Returns another piece at once when asked, up to a number of them.
    private final class Source: StreamSource {
        let reply: Reply
        let pieceCountMax: Int
        let askedCount = Atomic(0)
        let goneCount = Atomic(0)
        let asked = Collected<Int>()

        init(_ reply: Reply, pieceCountMax: Int) {
            self.reply = reply
            self.pieceCountMax = pieceCountMax
        }

        func streamHasRoom() {
            let count = askedCount.add(1, ordering: .relaxed).newValue
            asked.add(count)
            guard count <= pieceCountMax else { return }
            reply.body.send(ByteBuffer(repeating: UInt8(ascii: "a"), count: pieceByteCount))
        }

        func clientIsGone() { goneCount.add(1, ordering: .relaxed) }
    }

    private func withSource(
        pieceCountMax: Int, _ change: (inout TransportSettings) -> Void = { _ in },
        _ body: (HTTPServer, Collected<Source>) async throws -> Void
    ) async throws {
        let sources = Collected<Source>()
        try await withServer(
            change,
            handler: { _, reply in
                let source = Source(reply, pieceCountMax: pieceCountMax)
                sources.add(source)
                reply.stream(.ok, headers: [:], first: ByteBuffer(string: "first"), source: source)
            }
        ) { try await body($0, sources) }
    }

    @Test("is one whole answer, asked for piece by piece, and the connection stays open")
    func whole() async throws {
        try await withSource(pieceCountMax: 20) { server, sources in
            let client = try await RawClient.connect(server.port)
            for _ in 0..<2 {
                try await client.send(Self.get)
                let source = try await sources.next()
                _ = await source.asked.take(21)
                source.reply.body.end()
                #expect(try await client.answer().body.utf8.count == 5 + 20 * Self.pieceByteCount)
                #expect(source.askedCount.load(ordering: .relaxed) == 21)
                #expect(source.goneCount.load(ordering: .relaxed) == 0)
            }
            try await client.close()
        }
    }

    @Test("is not asked for more by a client that reads nothing; the client is cut off, and the source notified once")
    func slowReader() async throws {
        try await withSource(pieceCountMax: 10_000, { $0.writeTimeout = .milliseconds(100) }) { server, sources in
            let client = try await RawClient.connect(server.port, readsByItself: false)
            try await client.send(Self.get)
            let source = try await sources.next()
            try await eventually("the source is notified") { source.goneCount.load(ordering: .relaxed) > 0 }
            // The content of the kernels' buffers, and one piece.
            #expect(source.askedCount.load(ordering: .relaxed) < 200)
            #expect(server.statistics.timeouts == 1)
            source.reply.body.send(ByteBuffer(string: "too late"))
            source.reply.body.end()
            try await client.close()
            #expect(source.goneCount.load(ordering: .relaxed) == 1)
        }
    }

    /// Like heartbeats to a client that vanished without a FIN: they fit into the kernel's buffers, so no bytes wait here
    /// that would show its absence.
    @Test("ends when the client acknowledges nothing, however few bytes were sent")
    func vanished() async throws {
        try await withSource(pieceCountMax: 1, { $0.acknowledgementTimeout = .milliseconds(500) }) { server, sources in
            let client = try await RawClient.connect(server.port, readsByItself: false)
            try await client.send(Self.get)
            let source = try await sources.next()
            // Asked again, because the kernel has accepted everything.
            _ = await source.asked.take(2)
            try await eventually("the source is notified") { source.goneCount.load(ordering: .relaxed) > 0 }
            #expect(server.statistics.timeouts == 0 && server.statistics.connectionsOpen == 0)
            try await client.close()
        }
    }

    @Test("continues when a slow client reads again")
    func catchingUp() async throws {
        try await withSource(pieceCountMax: 300) { server, sources in
            let client = try await RawClient.connect(server.port, readsByItself: false)
            try await client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            let source = try await sources.next()
            _ = await source.asked.take(2)
            try await client.readByItself()
            _ = await source.asked.take(299)
            source.reply.body.end()
            #expect(try await client.rest().utf8.count > 300 * Self.pieceByteCount)
        }
    }

    @Test("gets the same piece as 1,000 others by one call, and each source is asked for the next")
    func together() async throws {
        try await withSource(pieceCountMax: 0) { server, sources in
            var clients: [RawClient] = []
            for _ in 0..<1_000 {
                let client = try await RawClient.connect(server.port)
                try await client.send(Self.get)
                clients.append(client)
            }
            let all = await sources.take(1_000)
            for source in all { _ = await source.asked.take(1) }
            sendAll([(ByteBuffer(string: " second"), all.map(\.reply.body))])
            for source in all { #expect(await source.asked.take(1) == [2]) }
            for source in all { source.reply.body.end() }
            for client in clients {
                #expect(try await client.answer().body == "first second")
                try await client.close()
            }
        }
    }
}
