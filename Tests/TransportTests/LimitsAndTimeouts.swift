// Each limit and each timeout ends the connections it is meant for, and no others.

import HTTPTypes
import NIOCore
import TestBasics
import Testing

@testable import Transport

@Suite("Limits and timeouts", .timeLimit(.minutes(1)))
struct LimitsAndTimeouts {
    @Test("above the connection limit a client reads the reason, and the next one fits when one has left")
    func connections() async throws {
        let parked = Collected<Reply>()
        try await withServer({ $0.connectionCountMax = 2 }, handler: { parked.add($1) }) { server in
            let first = try await RawClient.connect(server.port)
            try await first.send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n")
            let second = try await RawClient.connect(server.port)
            try await second.send("GET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            let replies = await parked.take(2)
            let third = try await RawClient.connect(server.port)
            let refusal = try await third.answer()
            #expect(refusal.status == 503)
            #expect(refusal.headers["connection"] == "close")
            #expect(try await third.rest() == "")
            #expect(server.statistics.connectionsOpen == 2)
            #expect(server.statistics.connectionsRefused == 1)
            for reply in replies { reply.send(text("ok")) }
            #expect(try await first.answer().status == 200)
            _ = try await second.rest()
            try await second.close()
            // The server notices the close a moment later.
            try await eventually("a connection has closed") { server.statistics.connectionsOpen < 2 }
            let fourth = try await RawClient.connect(server.port)
            try await fourth.send("GET /4 HTTP/1.1\r\nHost: x\r\n\r\n")
            try await parked.next().send(text("ok"))
            #expect(try await fourth.answer().status == 200)
        }
    }

    @Test("a client that floods a connection with pipelined requests is cut off")
    func flood() async throws {
        let parked = Collected<Reply>()
        try await withServer({ $0.pipelinedRequestCountMax = 2 }, handler: { parked.add($1) }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(String(repeating: "GET / HTTP/1.1\r\nHost: x\r\n\r\n", count: 100))
            #expect(try await client.rest() == "")
        }
    }

    @Test("a connection without a request is closed without an answer", arguments: [true, false])
    func silent(hasHadRequest: Bool) async throws {
        try await withServer(
            {
                $0.headerTimeout = hasHadRequest ? .seconds(60) : .milliseconds(50)
                $0.idleTimeout = hasHadRequest ? .milliseconds(50) : .seconds(60)
            }, handler: echo
        ) { server in
            let client = try await RawClient.connect(server.port)
            if hasHadRequest {
                try await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(try await client.answer().status == 200)
            }
            #expect(try await client.rest() == "")
        }
    }

    @Test("headers that take too long get 408, on a new connection and on one kept alive", arguments: [true, false])
    func slowHeaders(hasHadRequest: Bool) async throws {
        try await withServer({ $0.headerTimeout = .milliseconds(500) }, handler: echo) { server in
            let client = try await RawClient.connect(server.port)
            if hasHadRequest {
                try await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(try await client.answer().status == 200)
            }
            try await client.send("GET / HTTP/1.1\r\nHo")
            let answer = try await client.answer()
            #expect(answer.status == 408)
            #expect(answer.body.contains("headerTimeout"))
            #expect(try await client.rest() == "")
        }
    }

    @Test("a body that takes too long gets 408, even if it arrives steadily")
    func slowBody() async throws {
        try await withServer({ $0.bodyTimeout = .milliseconds(300) }, handler: echo) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
            let answer = try await client.answer(whileDripping: true)
            #expect(answer.status == 408)
            #expect(answer.body.contains("bodyTimeout"))
        }
    }

    @Test("a client that receives nothing of its answer is cut off")
    func slowReader() async throws {
        let answered = Collected<Reply>()
        try await withServer(
            { $0.writeTimeout = .milliseconds(100) },
            handler: { _, reply in
                answered.add(reply)
                reply.send(OutboundResponse(status: .ok, body: ByteBuffer(repeating: 0x61, count: 30_000_000)))
            }
        ) { server in
            let client = try await RawClient.connect(server.port, readsByItself: false)
            try await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            let reply = try await answered.next()
            try await eventually("the client is gone") { reply.isClientGone }
            #expect(server.statistics.timeouts == 1)
            try await client.close()
        }
    }

    @Test("when too many bytes wait for all clients, those that receive nothing are cut off and the others are not")
    func slowReaders() async throws {
        try await withServer(
            {
                $0.unsentTotalByteCountMax = 100_000_000
                $0.threadCount = 1
                // Swept often, and far from its timeout.
                $0.lingerTimeout = .milliseconds(200)
            },
            handler: { request, reply in
                let byteCount = request.target == "/large" ? 40_000_000 : 4
                reply.send(OutboundResponse(status: .ok, body: ByteBuffer(repeating: 0x61, count: byteCount)))
            }
        ) { server in
            let reader = try await RawClient.connect(server.port)
            try await reader.send("GET /small HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try await reader.answer().status == 200)
            var clients: [RawClient] = []
            for _ in 0..<5 {
                let client = try await RawClient.connect(server.port, readsByItself: false)
                try await client.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
                clients.append(client)
            }
            // Two large answers and that of the reader fit.
            try await eventually("three clients are cut off") { server.statistics.timeouts >= 3 }
            try await reader.send("GET /small HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try await reader.answer().status == 200)
            #expect(server.statistics.timeouts == 3 && server.statistics.connectionsOpen == 3)
            for client in clients { try await client.close() }
        }
    }

    @Test("a client that reads slowly is neither idle nor stalled")
    func slowButSteady() async throws {
        let count = 20_000_000
        try await withServer(
            { $0.idleTimeout = .milliseconds(50) },
            handler: { _, reply in
                reply.send(OutboundResponse(status: .ok, body: ByteBuffer(repeating: 0x61, count: count)))
            }
        ) { server in
            let client = try await RawClient.connect(server.port, readsByItself: false)
            try await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            // This test is about time: several idle timeouts pass.
            try await Task.sleep(for: .milliseconds(300))
            try await client.readByItself()
            #expect(try await client.rest().utf8.count > count)
        }
    }

    @Test("a stream that a client does not read is cut off before it fills the memory")
    func pushedStream() async throws {
        let streams = Collected<(Reply, ResponseStream)>()
        try await withServer(
            { $0.unsentByteCountMax = 100_000 },
            handler: { _, reply in
                streams.add((reply, reply.stream(.ok, headers: [:])))
            }
        ) { server in
            let client = try await RawClient.connect(server.port, readsByItself: false)
            try await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            let (reply, stream) = try await streams.next()
            let piece = ByteBuffer(repeating: 0x61, count: 10_000)
            var sentCount = 0
            while !reply.isClientGone, sentCount < 100_000 {
                stream.send(piece)
                sentCount += 1
                await Task.yield()
            }
            // More than fits into the buffers of a kernel.
            #expect(sentCount < 100_000)
            #expect(throws: Never.self) { stream.end() }
            await #expect(throws: (any Error).self) { try await stream.write(piece) }
            try await client.close()
        }
    }

    @Test("a request that waits for its answer has no timeout")
    func parked() async throws {
        let parked = Collected<Reply>()
        try await withServer(
            {
                $0.idleTimeout = .milliseconds(20)
                $0.bodyTimeout = .milliseconds(20)
                $0.writeTimeout = .milliseconds(20)
            }, handler: { parked.add($1) }
        ) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            let reply = try await parked.next()
            // This test is about time: ten timeouts pass.
            try await Task.sleep(for: .milliseconds(200))
            reply.send(text("at last"))
            #expect(try await client.answer().body == "at last")
        }
    }
}
