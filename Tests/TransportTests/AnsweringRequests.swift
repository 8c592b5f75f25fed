// The answers to valid requests on one connection.

import HTTPTypes
import NIOCore
import Testing

@testable import Transport

@Suite("Answering requests", .timeLimit(.minutes(1)))
struct AnsweringRequests {
    @Test("sends a length, a date and no Connection header, and keeps the connection open")
    func keepsAlive() async throws {
        try await withServer(handler: echo) { server in
            let client = try await RawClient.connect(server.port)
            for number in 1...3 {
                try await client.send("GET /a?b=\(number) HTTP/1.1\r\nHost: x\r\n\r\n")
                let answer = try await client.answer()
                #expect(answer.status == 200)
                #expect(answer.body == "GET /a?b=\(number) ")
                #expect(answer.headers["content-length"] == String(answer.body.utf8.count))
                #expect(answer.headers["date"]?.hasSuffix(" GMT") == true)
                #expect(answer.headers["connection"] == nil)
            }
            #expect(server.statistics.requests == 3)
            #expect(server.statistics.connectionsTotal == 1)
        }
    }

    @Test("sends the answers to pipelined requests in order, also if the handler is slow")
    func pipelined() async throws {
        let parked = Collected<(Reply, String)>()
        try await withServer(handler: { parked.add(($1, String($0.path))) }) { server in
            let client = try await RawClient.connect(server.port)
            let all = (1...20).map { "GET /\($0) HTTP/1.1\r\nHost: x\r\n\r\n" }.joined()
            try await client.send(all)
            for number in 1...20 {
                let (reply, path) = try await parked.next()
                #expect(path == "/\(number)")
                reply.send(text(path))
                #expect(try await client.answer().body == "/\(number)")
            }
        }
    }

    @Test("handles requests pipelined in one piece, with bodies of both framings")
    func pipelinedBodies() async throws {
        try await withServer(handler: echo) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(
                "POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
                    + "POST /2 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "2;e=1\r\nde\r\n1\r\nf\r\n0\r\nT: 1\r\n\r\n"
                    + "GET /3 HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try await client.answer().body == "POST /1 abc")
            #expect(try await client.answer().body == "POST /2 def")
            #expect(try await client.answer().body == "GET /3 ")
        }
    }

    @Test("assembles a request that arrives byte by byte")
    func byteByByte() async throws {
        try await withServer(handler: echo) { server in
            let client = try await RawClient.connect(server.port)
            for character in "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok" {
                try await client.send(String(character))
            }
            #expect(try await client.answer().body == "POST /p ok")
        }
    }

    @Test("accepts a body up to the limit, and sends an answer of the same size")
    func largeBody() async throws {
        try await withServer(handler: { $1.send(OutboundResponse(status: .ok, body: $0.body)) }) { server in
            let client = try await RawClient.connect(server.port)
            let body = String(repeating: "0123456789abcdef", count: 65_536)
            try await client.send("PUT /p HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            #expect(try await client.answer().body == body)
        }
    }

    @Test("sends 100 Continue only to a client that waits for it")
    func expectContinue() async throws {
        try await withServer(handler: echo) { server in
            let client = try await RawClient.connect(server.port)
            let head = "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
            try await client.send(head)
            #expect(try await client.expect("HTTP/1.1 100 Continue\r\n\r\n"))
            try await client.send("ok")
            #expect(try await client.answer().body == "POST / ok")
            try await client.send(head + "ok")
            #expect(try await client.answer().status == 200)
            try await client.send("GET / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n")
            #expect(try await client.answer().status == 200)
        }
    }

    @Test("answers HEAD with the length and no body")
    func head() async throws {
        try await withServer(handler: echo) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send("HEAD /x HTTP/1.1\r\nHost: x\r\n\r\nGET /y HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try await client.answer(toHead: true).headers["content-length"] == "8")
            #expect(try await client.answer().body == "GET /y ")
        }
    }

    @Test("sends neither body nor length with 204")
    func noContent() async throws {
        try await withServer(handler: {
            $1.send(OutboundResponse(status: .noContent, body: ByteBuffer(string: "never")))
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send("DELETE /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            let answer = try await client.rest()
            #expect(answer.hasPrefix("HTTP/1.1 204 No Content\r\n"))
            #expect(answer.hasSuffix("\r\n\r\n"))
            #expect(!answer.contains("Content-Length"))
        }
    }

    @Test(
        "closes after the answer when the client, the handler or HTTP/1.0 requires it",
        arguments: [
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            "GET /close HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET / HTTP/1.0\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
        ])
    func closes(request: String) async throws {
        try await withServer(handler: { request, reply in
            var response = text("bye")
            response.closesConnection = request.path == "/close"
            reply.send(response)
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(request)
            let answer = try await client.rest()
            #expect(answer.hasSuffix("bye"))
            #expect(answer.contains("\r\nConnection: close\r\n"))
        }
    }

    @Test("keeps an HTTP/1.0 connection open on request, and confirms it")
    func http10KeepAlive() async throws {
        try await withServer(handler: echo) { server in
            let client = try await RawClient.connect(server.port)
            for _ in 1...2 {
                try await client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                #expect(try await client.answer().headers["connection"] == "keep-alive")
            }
        }
    }

    @Test("never lets a header of the handler break its line")
    func injection() async throws {
        try await withServer(handler: { _, reply in
            var response = text("ok")
            response.headers[.location] = "/a\r\nSet-Cookie: evil=1\r\n\r\n<html>"
            response.headers[.contentLength] = "9999"
            response.headers[.connection] = "keep-alive"
            reply.send(response)
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            let answer = try await client.answer()
            #expect(answer.headers["set-cookie"] == nil)
            #expect(answer.headers["content-length"] == "2")
            #expect(answer.headers["connection"] == "close")
            #expect(answer.body == "ok")
        }
    }

    @Test("answers by itself when the handler releases the reply")
    func unanswered() async throws {
        try await withServer(handler: { _, _ in }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            let answer = try await client.answer()
            #expect(answer.status == 500)
            #expect(answer.body.contains("unanswered"))
        }
    }

    @Test("sends a streamed answer in chunks, or with its length, or until the close for HTTP/1.0")
    func streams() async throws {
        try await withServer(handler: { request, reply in
            let stream = reply.stream(.ok, headers: [:], contentLength: request.path == "/known" ? 4 : nil)
            for piece in ["ab", "", "cd"] { stream.send(ByteBuffer(string: piece)) }
            stream.end()
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /known HTTP/1.1\r\nHost: x\r\n\r\n")
            let chunked = try await client.answer()
            #expect(chunked.headers["transfer-encoding"] == "chunked")
            #expect(chunked.body == "abcd")
            let known = try await client.answer()
            #expect(known.headers["content-length"] == "4")
            #expect(known.body == "abcd")
            try await client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            let untilClose = try await client.rest()
            #expect(untilClose.contains("Connection: close"))
            #expect(untilClose.hasSuffix("\r\n\r\nabcd"))
        }
    }
}
