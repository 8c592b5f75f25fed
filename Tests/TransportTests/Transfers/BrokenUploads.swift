// Streamed bodies that end early: every byte that arrived reaches the handler before the error does.

import HTTPTypes
import NIOCore
import Synchronization
import TestBasics
import Testing

@testable import Transport

@Suite("A streamed body that ends early", .timeLimit(.minutes(2)))
struct BrokenUploads {
    private static let second = "GET /second HTTP/1.1\r\nHost: x\r\n\r\n"

    private static func put(_ headers: String) -> String { "PUT /up HTTP/1.1\r\nHost: x\r\n\(headers)\r\n\r\n" }

    enum Break: CaseIterable { case close, halfClose, reset }

    @Test("by a broken connection delivers exactly what arrived, wherever it is cut", arguments: Break.allCases)
    func broken(by cut: Break) async throws {
        let received = Collected<Received>()
        try await withUploadServer(
            { $0.halfCloseGrace = .milliseconds(50) },
            consume: { request, reply in
                // A handler that is busy for a while, so that the connection breaks during a pause of reading, too.
                if request.headers.contains(.accept) {
                    do { try await Task.sleep(for: .milliseconds(10)) } catch { return }
                }
                received.add(await Received(request))
                reply.send(text("too late for most"))
            }
        ) { server in
            var random = SplitMix64(seed: 20_261_123)
            let whole = pattern(1_500_000)
            for round in 0..<100 {
                // A reset also drops what the kernel of the client has not sent yet.
                let sent = whole.getSlice(
                    at: 0, length: .random(in: 1...(cut == .reset ? 40_000 : 1_400_000), using: &random))
                var rest = try #require(sent)
                let client = try await RawClient.connect(server.port)
                let isChunked = round % 2 == 0
                let headers =
                    (isChunked ? "Transfer-Encoding: chunked" : "Content-Length: 1500000")
                    + (round % 4 < 2 ? "\r\nAccept: x" : "")
                try await client.send(Self.put(headers))
                while rest.readableBytes > 0 {
                    let byteCount = min(rest.readableBytes, .random(in: 1...500_000, using: &random))
                    let piece = rest.readSlice(length: byteCount) ?? ByteBuffer()
                    if isChunked { try await client.send(String(byteCount, radix: 16) + "\r\n") }
                    try await client.send(bytes: piece)
                    // Sometimes the break comes inside a chunk's frame.
                    if isChunked, rest.readableBytes > 0 || round % 3 == 0 { try await client.send("\r\n") }
                }
                switch cut {
                case .close: try await client.close()
                case .halfClose: try await client.closeOutput()
                case .reset: try await client.reset()
                }
                let result = try await received.next()
                #expect(result.error == .clientGone)
                #expect(result.bytes == sent, "round \(round): \(result.bytes.readableBytes)")
            }
            try await eventually("no connection is open") { server.statistics.connectionsOpen == 0 }
        }
    }

    @Test("by a half-close may still be answered")
    func halfClosed() async throws {
        try await withUploadServer { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.put("Content-Length: 10") + "abc")
            try await client.closeOutput()
            let answer = try await client.answer()
            #expect(answer.status == 400 && answer.body == "PUT /up clientGone")
            #expect(answer.headers["connection"] == "close")
        }
    }

    @Test("by its size: a declared one is refused before it is read, chunks end at the limit")
    func tooLarge() async throws {
        let received = Collected<Received>()
        try await withUploadServer(
            byteCountMax: 100_000,
            consume: { request, reply in
                let all = await Received(request)
                received.add(all)
                reply.send(OutboundResponse(status: all.error == .tooLarge ? .contentTooLarge : .ok))
            }
        ) { server in
            let declared = try await RawClient.connect(server.port)
            try await declared.send(Self.put("Content-Length: 100001"))
            let refusal = try await declared.answer()
            #expect(refusal.status == 413 && refusal.body.contains("bodyTooLarge"))
            #expect(server.statistics.requests == 0)
            let chunked = try await RawClient.connect(server.port)
            try await chunked.send(Self.put("Transfer-Encoding: chunked"))
            for _ in 1...3 { try await chunked.send("9c40\r\n" + String(repeating: "x", count: 40_000) + "\r\n") }
            let answer = try await chunked.answer()
            #expect(answer.status == 413 && answer.headers["connection"] == "close")
            #expect(try await chunked.rest() == "")
            let all = try await received.next()
            #expect(all.error == .tooLarge && all.bytes.readableBytes == 100_000)
        }
    }

    @Test(
        "by a bad chunk delivers what was before it, is answered by the handler, and nothing follows",
        arguments: ["xyz\r\n", "1\r\nab\r\n", "+1\r\na\r\n", "1\nb\r\n", "fffffffffffffffff\r\n", "0\r\nA : b\r\n\r\n"])
    func malformed(chunk: String) async throws {
        let begun = Collected<Void>()
        let received = Collected<Received>()
        try await withUploadServer(consume: { request, reply in
            begun.add(())
            received.add(await Received(request))
            reply.send(OutboundResponse(status: .badRequest, body: ByteBuffer(string: "the handler's")))
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.put("Transfer-Encoding: chunked") + "3\r\nabc\r\n")
            try await begun.next()
            try await client.send(chunk + Self.second)
            let answer = try await client.answer()
            #expect(answer.body == "the handler's" && answer.headers["connection"] == "close")
            #expect(try await client.rest() == "")
            let all = try await received.next()
            #expect(all.error == .malformed && String(buffer: all.bytes).hasPrefix("abc"))
            #expect(server.statistics.requests == 1)
        }
    }

    @Test("by a drain delivers what arrived, lets the handler answer, and closes")
    func stopping() async throws {
        let received = Collected<Received>()
        let readByteCount = Atomic(0)
        try await withUploadServer(consume: { request, reply in
            received.add(await Received(request, each: { readByteCount.add($0.readableBytes, ordering: .relaxed) }))
            reply.send(text("stored"))
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.put("Content-Length: 100000") + String(repeating: "x", count: 50_000))
            try await eventually("the handler has read what was sent") {
                readByteCount.load(ordering: .relaxed) == 50_000
            }
            async let drained: Void = server.drain(deadline: .seconds(20))
            let answer = try await client.answer()
            #expect(answer.body == "stored" && answer.headers["connection"] == "close")
            #expect(try await client.rest() == "")
            try await client.close()
            await drained
            let all = try await received.next()
            #expect(all.error == .stopping && all.bytes.readableBytes == 50_000)
            #expect(server.statistics.connectionsOpen == 0)
        }
    }

    @Test("does not end for memory's sake: streamed bodies are never refused")
    func neverVictim() async throws {
        let door = Door()
        let wanted = Collected<Void>()
        try await withUploadServer(
            {
                $0.threadCount = 1
                $0.incomingTotalByteCountMax = 400_000
            },
            consume: { request, reply in
                let all = await Received(request) { _ in
                    wanted.add(())
                    await door.pass()
                }
                reply.send(text("\(all.bytes.readableBytes)"))
            }
        ) { server in
            let body = String(repeating: "x", count: 400_000)
            var clients: [RawClient] = []
            for _ in 1...5 {
                let client = try await RawClient.connect(server.port)
                try await client.send(Self.put("Content-Length: 400001"))
                try await client.send(body)
                try await wanted.next()
                clients.append(client)
            }
            try await eventually("no body is counted") { server.statistics.bodyBytes == 0 }
            #expect(server.statistics.bodiesRefused == 0)
            door.open()
            for client in clients {
                try await client.send("y")
                #expect(try await client.answer().body == "400001")
            }
        }
    }

    @Test("is refused at its head if too much waits for handlers that have not asked for it")
    func tooManyUnwanted() async throws {
        let door = Door()
        try await withUploadServer(
            {
                $0.threadCount = 1
                $0.incomingTotalByteCountMax = 10_000
            },
            consume: { request, reply in
                await door.pass()
                await answerReceived(request, reply)
            }
        ) { server in
            defer { door.open() }
            var clients: [RawClient] = []
            while server.statistics.bodiesRefused == 0, clients.count < 100 {
                let client = try await RawClient.connect(server.port)
                try await client.send(Self.put("Content-Length: 400001") + String(repeating: "x", count: 400))
                clients.append(client)
                try await eventually("the head is decided") {
                    server.statistics.requests + server.statistics.bodiesRefused == clients.count
                }
                #expect(server.statistics.bodyBytes <= 10_000)
            }
            let refusal = try await #require(clients.last).answer()
            #expect(refusal.status == 503 && refusal.body.contains("tooManyBodies"))
        }
    }
}
