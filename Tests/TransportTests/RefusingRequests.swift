// Input that is no request, or could be read as two, gets a problem that the client can read, and a close.

import NIOCore
import TestBasics
import Testing

@testable import Transport

@Suite("Refusing requests", .timeLimit(.minutes(1)))
struct RefusingRequests {
    /// A raw request and the status it must get.
    struct Refusal: CustomTestStringConvertible, Sendable {
        let what: String
        let request: String
        let status: Int
        var testDescription: String { what }

        init(_ what: String, _ request: String, _ status: Int) {
            self.what = what
            self.request = request
            self.status = status
        }
    }

    static let shapes: [Refusal] = [
        Refusal("two different lengths", post("Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"), 400),
        Refusal("the same length twice", post("Content-Length: 1\r\nContent-Length: 1\r\n\r\na"), 400),
        Refusal("a list of lengths", post("Content-Length: 1, 1\r\n\r\na"), 400),
        Refusal("a signed length", post("Content-Length: +1\r\n\r\na"), 400),
        Refusal("a length that overflows", post("Content-Length: 99999999999999999999999\r\n\r\n"), 400),
        Refusal("length and chunks", post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400),
        Refusal("chunks and length", post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n"), 400),
        Refusal("chunked twice", post("Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"), 400),
        Refusal("gzip before chunked", post("Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), 501),
        Refusal("another coding last", post("Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n"), 400),
        Refusal("a disguised coding", post("Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"), 501),
        Refusal("a space before the colon", post("Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"), 400),
        Refusal("a folded header", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", 400),
        Refusal("a header without a name", "GET / HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n", 400),
        Refusal("a bare CR in a header", "GET / HTTP/1.1\r\nHost: x\r\nA: b\rC: d\r\n\r\n", 400),
        Refusal("a NUL in a header", "GET / HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n", 400),
        Refusal("a bad chunk size", post("Transfer-Encoding: chunked\r\n\r\nxyz\r\n"), 400),
        Refusal("a chunk that is longer than it says", post("Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n"), 400),
        Refusal("a chunk size that overflows", post("Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n"), 400),
        Refusal("chunks in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        Refusal("no Host", "GET / HTTP/1.1\r\n\r\n", 400),
        Refusal("two Hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", 400),
        Refusal("a Host with a path", "GET / HTTP/1.1\r\nHost: x/y\r\n\r\n", 400),
        Refusal("a NUL in the target", "GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        Refusal("a control character in the target", "GET /\u{1} HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        Refusal("a DEL in the target", "GET /\u{7F} HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        Refusal("a fragment in the target", "GET /#a HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        Refusal("a space in the target", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        Refusal("a relative target", "GET a HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        Refusal("a star with GET", "GET * HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        Refusal("CONNECT", "CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        Refusal("an unknown method", "BREW / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        Refusal("HTTP/0.9", "GET /\r\n\r\n", 505),
        Refusal("bare LF after the request line", "GET / HTTP/1.1\nHost: x\r\n\r\n", 505),
        Refusal("bare LF after a header", "GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n", 400),
        Refusal("bare LF at the head's end", "GET / HTTP/1.1\r\nHost: x\r\n\n", 400),
        Refusal("bare LF after a chunk size", post("Transfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n"), 400),
        Refusal("bare LF after a chunk", post("Transfer-Encoding: chunked\r\n\r\n1\r\na\n0\r\n\r\n"), 400),
        Refusal("a space before the chunk size", post("Transfer-Encoding: chunked\r\n\r\n 1\r\na\r\n0\r\n\r\n"), 400),
        Refusal("a TLS greeting", "\u{16}\u{3}\u{1}\u{2}\0\u{1}", 400),
        Refusal("HTTP/2 in clear", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        Refusal("HTTP/3", "GET / HTTP/3.0\r\nHost: x\r\n\r\n", 505),
        Refusal("another protocol", "SSH-2.0-OpenSSH_9.2\r\n", 400),
        Refusal("another expectation", post("Expect: tea\r\nContent-Length: 1\r\n\r\na"), 417),
        Refusal("a body over the limit", post("Content-Length: 101\r\n\r\n"), 413),
        Refusal(
            "chunks over the limit",
            post("Transfer-Encoding: chunked\r\n\r\n65\r\n\(letters(101))\r\n0\r\n\r\n"), 413),
        Refusal("a long target", "GET /\(letters(600)) HTTP/1.1\r\nHost: x\r\n\r\n", 414),
        Refusal("a long header", "GET / HTTP/1.1\r\nHost: x\r\nA: \(letters(1100))\r\n\r\n", 431),
        Refusal("long headers together", "GET / HTTP/1.1\r\nHost: x\r\n\(fields(8, letters(200)))\r\n", 431),
        Refusal("many headers", "GET / HTTP/1.1\r\nHost: x\r\n\(fields(12, "a"))\r\n", 431),
        Refusal("a head without an end", "GET / HTTP/1.1\r\nHost: \(letters(2000))", 431),
    ]

    private static func post(_ rest: String) -> String { "POST / HTTP/1.1\r\nHost: x\r\n\(rest)" }
    private static func letters(_ count: Int) -> String { String(repeating: "a", count: count) }
    private static func fields(_ count: Int, _ value: String) -> String {
        (1...count).map { "X-\($0): \(value)\r\n" }.joined()
    }

    private static func limits(_ settings: inout TransportSettings) {
        settings.targetByteCountMax = 500
        settings.headerByteCountMax = 1000
        settings.headerCountMax = 10
        settings.bodyByteCountMax = 100
    }

    @Test("answers anything but one clear request with a problem and Connection: close, and closes", arguments: shapes)
    func refuses(refusal: Refusal) async throws {
        try await withServer(Self.limits, handler: echo) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(refusal.request)
            let answer = try await client.answer()
            #expect(answer.status == refusal.status)
            #expect(answer.headers["connection"] == "close")
            #expect(answer.headers["content-type"] == "application/problem+json")
            #expect(try await client.rest() == "")
            #expect(server.statistics.requests == 0)
        }
    }

    @Test("answers the good requests before a bad one")
    func goodBeforeBad() async throws {
        let parked = Collected<Reply>()
        try await withServer(handler: { parked.add($1) }) { server in
            let client = try await RawClient.connect(server.port)
            let good = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
            try await client.send(good + good + "nonsense\r\n\r\n")
            for number in 1...2 { try await parked.next().send(text("\(number)")) }
            #expect(try await client.answer().body == "1")
            #expect(try await client.answer().body == "2")
            #expect(try await client.answer().status == 400)
            #expect(try await client.rest() == "")
        }
    }

    @Test("lets a client that is still sending read the reason")
    func lingers() async throws {
        try await withServer(handler: echo) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n")
            let piece = String(repeating: "x", count: 200_000)
            for _ in 1...20 { try await client.send(piece) }
            #expect(try await client.answer().status == 413)
        }
    }

    @Test("accepts the forms of a target that RFC 9112 requires")
    func targets() async throws {
        try await withServer(handler: echo) { server in
            let client = try await RawClient.connect(server.port)
            for (line, target) in [
                ("GET http://h:1/a?b", "GET /a?b"), ("GET HTTPS://h", "GET /"), ("GET http://h?q", "GET /?q"),
                ("OPTIONS *", "OPTIONS *"), ("OPTIONS http://h", "OPTIONS *"), ("GET /%zz%00%ff?%", "GET /%zz%00%ff?%"),
                ("GET //a/../b", "GET //a/../b"),
            ] {
                try await client.send("\(line) HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(try await client.answer().body == target + " ")
            }
        }
    }

    @Test("survives random bytes and mangled requests")
    func garbage() async throws {
        try await withServer({ $0.lingerTimeout = .milliseconds(50) }, handler: echo) { server in
            var random = SplitMix64(seed: 20_261_121)
            let head = "POST /a?b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
            let good = Array("\(head)3\r\nabc\r\n0\r\n\r\n".utf8)
            for round in 0..<300 {
                var bytes = round % 3 == 0 ? (0..<200).map { _ in UInt8.random(in: 0...255, using: &random) } : good
                for _ in 0..<(round % 5) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                let client = try await RawClient.connect(server.port)
                // The server may close before it has read everything.
                try? await client.send(bytes: ByteBuffer(bytes: bytes))
                try? await client.closeOutput()
                _ = try await client.rest()
            }
            let client = try await RawClient.connect(server.port)
            try await client.send("GET /alive HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try await client.answer().body == "GET /alive ")
        }
    }
}
