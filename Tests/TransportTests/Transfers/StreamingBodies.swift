// A streamed body reaches its handler while it arrives, with back-pressure.

import HTTPTypes
import NIOCore
import TestBasics
import Testing

@testable import Transport

@Suite("A streamed body", .timeLimit(.minutes(1)))
struct StreamingBodies {
    private static let second = "GET /second HTTP/1.1\r\nHost: x\r\n\r\n"

    private static func put(_ headers: String, version: String = "1.1") -> String {
        "PUT /up HTTP/\(version)\r\nHost: x\r\n\(headers)\r\n\r\n"
    }

    @Test("reaches the handler before it is complete")
    func early() async throws {
        let requests = Collected<(InboundRequest, Reply)>()
        try await withUploadServer(consume: { requests.add(($0, $1)) }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.put("Content-Length: 6") + "abc")
            let (request, reply) = try await requests.next()
            let stream = try #require(request.bodyStream)
            #expect(stream.declaredByteCount == 6 && request.body.readableBytes == 0)
            var pieces = stream.makeAsyncIterator()
            #expect(try await pieces.next() == ByteBuffer(string: "abc"))
            try await client.send("def")
            #expect(try await pieces.next() == ByteBuffer(string: "def"))
            #expect(try await pieces.next() == nil)
            #expect(try await pieces.next() == nil)
            reply.send(text("stored"))
            #expect(try await client.answer().body == "stored")
        }
    }

    @Test("arrives unchanged in either framing, and the next request on the connection is served")
    func framings() async throws {
        let body = String(repeating: "0123456789abcdef", count: 100_000)
        try await withUploadServer { server in
            let client = try await RawClient.connect(server.port)
            for _ in 1...2 {
                try await client.send(Self.put("Content-Length: \(body.utf8.count)") + body + Self.second)
                #expect(try await client.answer().body == "PUT /up " + body)
                #expect(try await client.answer().body == "GET /second ")
                try await client.send(Self.put("Transfer-Encoding: chunked"))
                for _ in 1...16 {
                    try await client.send("186A0\r\n" + String(repeating: "0123456789", count: 10_000) + "\r\n")
                }
                try await client.send("0\r\nTrailer: x\r\n\r\n" + Self.second)
                #expect(
                    try await client.answer().body == "PUT /up " + String(repeating: "0123456789", count: 160_000))
                #expect(try await client.answer().body == "GET /second ")
            }
        }
    }

    @Test("that arrives whole in one read is an ordinary body")
    func whole() async throws {
        let requests = Collected<(InboundRequest, Reply)>()
        try await withUploadServer(consume: { requests.add(($0, $1)) }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.put("Content-Length: 3") + "abc")
            let (request, reply) = try await requests.next()
            #expect(request.bodyStream == nil && String(buffer: request.body) == "abc")
            reply.send(text("ok"))
            #expect(try await client.answer().body == "ok")
        }
    }

    @Test("is larger than any ordinary body, and has no limit on its whole time")
    func unlimited() async throws {
        try await withUploadServer({
            $0.bodyByteCountMax = 1_000
            $0.bodyTimeout = .milliseconds(20)
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.put("Content-Length: 5000"))
            for _ in 1...10 {
                try await client.send(String(repeating: "x", count: 500))
                // This test is about time: ten timeouts of an ordinary body pass.
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(try await client.answer().body == "PUT /up " + String(repeating: "x", count: 5_000))
        }
    }

    @Test("pauses the client while the handler is busy, with at most 384 KiB in memory")
    func backPressure() async throws {
        let body = pattern(64 * 1024 * 1024)
        let requests = Collected<RequestBodyStream>()
        let door = Door()
        let received = Collected<Received>()
        try await withUploadServer(
            { $0.threadCount = 1 },
            consume: { request, reply in
                guard request.method == .put else { return await answerReceived(request, reply) }
                let all = await Received(request) { stream in
                    requests.add(stream)
                    await door.pass()
                }
                received.add(all)
                reply.send(text("ok"))
            }
        ) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.put("Content-Length: \(body.readableBytes)"))
            let hasSent = Door()
            let sender = Task {
                try await client.send(bytes: body)
                hasSent.open()
            }
            let stream = try await requests.next()
            let settings = TransportSettings()
            try await eventually("the buffer is full") { stream.waitingByteCount >= settings.uploadBufferByteCount }
            // The read that filled the buffer ends, and then nothing more is read.
            try await turnLoop(of: server)
            let waiting = stream.waitingByteCount
            #expect(waiting <= settings.uploadBufferByteCount + 4 * 65_536)
            try await turnLoop(of: server)
            #expect(stream.waitingByteCount == waiting)
            #expect(!hasSent.isOpen)
            #expect(server.statistics.bodyBytes == 0)
            door.open()
            let all = try await received.next()
            #expect(all.error == nil && all.bytes == body)
            try await sender.value
            #expect(try await client.answer().body == "ok")
        }
    }

    @Test("is not read before the handler asks for it, and counts as an ordinary body until then")
    func unwanted() async throws {
        let streams = Collected<RequestBodyStream>()
        let door = Door()
        try await withUploadServer(
            { $0.threadCount = 1 },
            consume: { request, reply in
                guard let stream = request.bodyStream else { return await answerReceived(request, reply) }
                streams.add(stream)
                await door.pass()
                let all = await Received(request)
                reply.send(text("\(all.bytes.readableBytes)"))
            }
        ) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.put("Content-Length: 5000000") + "x")
            let stream = try await streams.next()
            let first = stream.waitingByteCount
            // The kernel has accepted these bytes, so the loop would read them if it read at all.
            try await client.send(String(repeating: "x", count: 20_000))
            try await turnLoop(of: server)
            #expect(stream.waitingByteCount == first && first <= 4 * 65_536)
            #expect(server.statistics.bodyBytes == first)
            let sender = Task { try await client.send(String(repeating: "x", count: 4_979_999)) }
            door.open()
            #expect(try await client.answer().body == "5000000")
            #expect(server.statistics.bodyBytes == 0)
            try await sender.value
        }
    }

    @Test("in tiny chunks costs no more memory than in large ones")
    func tinyChunks() {
        var pieces = BodyPieces()
        var expected = ByteBuffer()
        var received = ByteBuffer(repeating: 0x61, count: 65_536)
        for byteCount in [1, 1, 40_000, 2, 20_000, 3] {
            let piece = received.readSlice(length: byteCount) ?? ByteBuffer()
            pieces.append(piece)
            expected.writeImmutableBuffer(piece)
        }
        #expect(pieces.byteCount == 60_007)
        var sizes: [Int] = []
        var all = ByteBuffer()
        while let piece = pieces.popFirst() {
            sizes.append(piece.readableBytes)
            all.writeImmutableBuffer(piece)
        }
        #expect(sizes == [2, 40_000, 20_005] && all == expected && pieces.byteCount == 0)
    }

    @Test("is answered with 100 Continue when the handler first waits for bytes")
    func continues() async throws {
        // Sent before the handler waits for bytes, and received before 100 Continue.
        let mark = HTTPResponse.Status(code: 104, reasonPhrase: "Not yet")
        try await withUploadServer(consume: { request, reply in
            reply.inform(mark)
            await answerReceived(request, reply)
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.put("Content-Length: 2\r\nExpect: 100-continue"))
            #expect(try await client.expect("HTTP/1.1 104 Not yet\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"))
            try await client.send("ok")
            #expect(try await client.answer().body == "PUT /up ok")
            try await client.send(Self.put("Content-Length: 4\r\nExpect: 100-continue") + "no")
            #expect(try await client.expect("HTTP/1.1 104 Not yet\r\n\r\n"))
            try await client.send("pe")
            #expect(try await client.answer().body == "PUT /up nope")
        }
    }

    @Test("of an HTTP/1.0 client works, without interim answers")
    func http10() async throws {
        try await withUploadServer(consume: { request, reply in
            reply.inform(HTTPResponse.Status(code: 104, reasonPhrase: "Upload Resumption Supported"))
            await answerReceived(request, reply)
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.put("Content-Length: 4\r\nExpect: 100-continue", version: "1.0") + "ab")
            try await client.send("cd")
            let answer = try await client.rest()
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("PUT /up abcd"))
        }
    }

    @Test("may be answered with 104 first, as often as the handler likes")
    func informs() async throws {
        try await withUploadServer(consume: { request, reply in
            for offset in [0, 7] {
                reply.inform(
                    HTTPResponse.Status(code: 104, reasonPhrase: "Upload Resumption Supported"),
                    headers: [.location: "/up/\(offset)"])
            }
            await answerReceived(request, reply)
            reply.inform(HTTPResponse.Status(code: 104, reasonPhrase: "too late"))
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.put("Content-Length: 2") + "o")
            for offset in [0, 7] {
                #expect(
                    try await client.expect(
                        "HTTP/1.1 104 Upload Resumption Supported\r\nLocation: /up/\(offset)\r\n\r\n"))
            }
            try await client.send("k" + Self.second)
            #expect(try await client.answer().body == "PUT /up ok")
            #expect(try await client.expect("HTTP/1.1 104 Upload Resumption Supported\r\nLocation: /up/0\r\n\r\n"))
        }
    }

    @Test("is decided when its turn comes if it is pipelined")
    func pipelined() async throws {
        let door = Door()
        try await withUploadServer(consume: { request, reply in
            if request.target == "/first" { await door.pass() }
            await answerReceived(request, reply)
        }) { server in
            let body = String(repeating: "y", count: 1_000_000)
            let client = try await RawClient.connect(server.port)
            try await client.send("GET /first HTTP/1.1\r\nHost: x\r\n\r\n")
            let sender = Task {
                try await client.send(Self.put("Content-Length: 1000000") + body + Self.second)
            }
            try await eventually("the next body arrives") { server.statistics.bodyBytes > 0 }
            door.open()
            #expect(try await client.answer().body == "GET /first ")
            #expect(try await client.answer().body == "PUT /up " + body)
            #expect(try await client.answer().body == "GET /second ")
            try await sender.value
        }
    }

    @Test("is not lost to a consumer that is cancelled while it waits")
    func cancelled() async throws {
        let requests = Collected<(InboundRequest, Reply)>()
        try await withUploadServer(consume: { requests.add(($0, $1)) }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.put("Content-Length: 2\r\nExpect: 100-continue"))
            let (request, reply) = try await requests.next()
            let stream = try #require(request.bodyStream)
            for isEarly in [false, true] {
                let waiter = Task {
                    if isEarly { withUnsafeCurrentTask { $0?.cancel() } }
                    var pieces = stream.makeAsyncIterator()
                    return try await pieces.next()
                }
                // The first consumer waits now.
                if !isEarly { #expect(try await client.expect("HTTP/1.1 100 Continue\r\n\r\n")) }
                waiter.cancel()
                await #expect(throws: CancellationError.self) { try await waiter.value }
            }
            try await client.send("ok")
            await answerReceived(request, reply)
            #expect(try await client.answer().body == "PUT /up ok")
        }
    }
}
