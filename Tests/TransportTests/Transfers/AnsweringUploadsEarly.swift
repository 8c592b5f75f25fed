// A handler may answer before the body has arrived. The client can read the answer, and no byte of the body is read as
// a request.

import HTTPTypes
import NIOCore
import Testing

@testable import Transport

@Suite("An early answer to a streamed body", .timeLimit(.minutes(1)))
struct AnsweringUploadsEarly {
    private static let second = "GET /second HTTP/1.1\r\nHost: x\r\n\r\n"

    private static func put(_ headers: String) -> String { "PUT /up HTTP/1.1\r\nHost: x\r\n\(headers)\r\n\r\n" }

    /// Answers uploads with 409 after some bytes, and echoes other requests.
    private func withRefusingServer(
        after byteCount: Int = 0, _ body: (HTTPServer, Collected<RequestBodyError?>) async throws -> Void
    ) async throws {
        let errors = Collected<RequestBodyError?>()
        try await withUploadServer(consume: { request, reply in
            guard let stream = request.bodyStream else { return await answerReceived(request, reply) }
            do {
                var pieces = stream.makeAsyncIterator()
                var received = 0
                while received < byteCount { received += try await pieces.next()?.readableBytes ?? byteCount }
            } catch {
                Issue.record(error)
            }
            reply.send(OutboundResponse(status: .conflict, body: ByteBuffer(string: "no")))
            errors.add(await Received(request).error)
        }) { try await body($0, errors) }
    }

    @Test(
        "keeps the connection open if little is missing, and drops a body that is small as a whole",
        arguments: [200_000, 0])
    func littleMissing(byteCount: Int) async throws {
        // The dropped body looks like a request on purpose.
        let rest = "GET /evil HTTP/1.1\r\nHost: x\r\n\r\n"
        try await withRefusingServer(after: byteCount) { server, errors in
            let client = try await RawClient.connect(server.port)
            for _ in 1...3 {
                let head = Self.put("Content-Length: \(byteCount + rest.utf8.count)")
                try await client.send(head + String(repeating: "x", count: byteCount))
                let answer = try await client.answer()
                #expect(answer.status == 409 && answer.headers["connection"] == nil)
                try await client.send(rest + Self.second)
                #expect(try await client.answer().body == "GET /second ")
                #expect(try await errors.next() == .answered)
            }
        }
    }

    @Test(
        "closes if much is missing, the body has chunks, or the client waits for 100 Continue",
        arguments: [
            "Content-Length: 50000000", "Transfer-Encoding: chunked", "Content-Length: 5\r\nExpect: 100-continue",
        ])
    func closes(headers: String) async throws {
        try await withRefusingServer { server, errors in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.put(headers))
            let answer = try await client.answer()
            #expect(answer.status == 409 && answer.headers["connection"] == "close")
            try await client.send(Self.second)
            #expect(try await client.rest() == "")
            #expect(try await errors.next() == .answered)
            #expect(server.statistics.requests == 1)
        }
    }

    @Test("reaches a client that is still sending")
    func stillSending() async throws {
        try await withRefusingServer { server, _ in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.put("Content-Length: 50000000"))
            let piece = String(repeating: "x", count: 200_000)
            for _ in 1...50 { try await client.send(piece) }
            #expect(try await client.answer().status == 409)
        }
    }

    @Test("is a problem of the server if the handler releases the reply")
    func unanswered() async throws {
        try await withUploadServer(consume: { _, _ in }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.put("Content-Length: 50000000"))
            let answer = try await client.answer()
            #expect(answer.status == 500 && answer.headers["connection"] == "close")
        }
    }

    @Test("may be streamed itself, before or after the body's end")
    func streamed() async throws {
        try await withUploadServer(consume: { request, reply in
            guard request.method == .put else { return await answerReceived(request, reply) }
            let stream = reply.stream(.ok, headers: [:])
            stream.send(ByteBuffer(string: "first "))
            let all = await Received(request)
            stream.send(all.bytes)
            stream.end()
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.put("Content-Length: 4"))
            try await client.send("abcd" + Self.second)
            let first = try await client.answer()
            #expect(first.body == "first abcd", "\(first)")
            #expect(try await client.answer().body == "GET /second ")
        }
    }
}
