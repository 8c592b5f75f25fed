// Forms that make one request look like two, or two like one, to a proxy in front of the service. Each is followed by a second
// request, which must be served only if the first one was clear.

import NIOCore
import Testing

@testable import Transport

@Suite("Where a request ends", .timeLimit(.minutes(1)))
struct SmugglingShapes {
    private static let second = "GET /second HTTP/1.1\r\nHost: x\r\n\r\n"
    private static func post(_ rest: String) -> String { "POST /first HTTP/1.1\r\nHost: x\r\n\(rest)" }
    private static func chunked(_ body: String) -> String { post("Transfer-Encoding: chunked\r\n\r\n\(body)") }

    static let unclearShapes: [String] = [
        // Lengths that are invalid or ambiguous.
        post("Content-Length: 0x1\r\n\r\na"), post("Content-Length: \r\n\r\na"), post("Content-Length: 1 1\r\n\r\na"),
        post("Content-Length: -0\r\n\r\n"), post("Content-Length: 1_0\r\n\r\n"), post("Content-Length: 1.0\r\n\r\na"),
        post("Content-Length: \u{661}\r\n\r\na"), post("Content-Length: 1,\r\n\r\na"),
        post("Content-Length: 0\r\ncontent-length: 33\r\n\r\n"), post("Content-Length: 1\0\r\n\r\na"),
        post("Content-Length: 1\r\n\tContent-Length: 2\r\n\r\na"), post("Content-Length\t: 1\r\n\r\na"),
        post("Content Length: 1\r\n\r\na"), post("Content-Length\0: 1\r\n\r\na"),
        post("Content-L\u{e9}ngth: 1\r\n\r\na"),
        // Codings that one parser knows and another does not.
        post("Transfer-Encoding: \u{b}chunked\r\n\r\n0\r\n\r\n"),
        post("Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"),
        post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"),
        post("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        post("Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n"), post("Transfer-Encoding: identity\r\n\r\n"),
        post("Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n"),
        post("Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n"),
        post("Transfer-Encoding: ,chunked\r\n\r\n0\r\n\r\n"), post("Transfer-Encoding: \r\n\r\n0\r\n\r\n"),
        post("X: y\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        post("X: y\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        post("Content-Length: 5\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"),
        // Chunk sizes that could be read in two ways.
        chunked("0x1\r\na\r\n0\r\n\r\n"), chunked("+1\r\na\r\n0\r\n\r\n"), chunked("-1\r\na\r\n0\r\n\r\n"),
        chunked("1_0\r\na\r\n0\r\n\r\n"), chunked("\r\n0\r\n\r\n"), chunked("1\r\r\na\r\n0\r\n\r\n"),
        chunked("1\r\naX0\r\n\r\n"), chunked("1;\na\r\n0\r\n\r\n"), chunked("1;a=b\n\r\na\r\n0\r\n\r\n"),
        chunked("1;a=\"\n\"\r\na\r\n0\r\n\r\n"), chunked("0\n\r\n"), chunked("0\r\n\n"), chunked("0\r\nA: b\n\r\n"),
        chunked("0\r\nA : b\r\n\r\n"), chunked("0\r\nContent-Length: 33\r\n\r\n"),
        chunked("0\r\nTransfer-Encoding: gzip\r\n\r\n"), chunked("0\r\nA: b\0\r\n\r\n"),
        chunked("10000000000000001\r\na\r\n0\r\n\r\n"),
        // Unusual lines.
        "GET /first HTTP/1.1\r\n Host: x\r\n\r\n", "GET /first HTTP/1.1\r\nHost: x\r\n \r\n\r\n",
        "GET /first HTTP/1.1\rHost: x\r\r", "GET\t/first HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /first\tHTTP/1.1\r\nHost: x\r\n\r\n", "get /first HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /first HTTP/1.1 \r\nHost: x\r\n\r\n", "GET /first HTTP/1.10\r\nHost: x\r\n\r\n",
        "GET /first http/1.1\r\nHost: x\r\n\r\n", "GET /first HTTP/1.1\r\nHost: x\r\n\0\r\n\r\n",
        "GET /first HTTP/1.1\r\nHost: x, y\r\n\r\n", "GET /first HTTP/1.1\r\nHost: x@y\r\n\r\n",
        "GET /first HTTP/1.1\r\nHost: x?y\r\n\r\n", "GET /first HTTP/1.1\r\nHost: x\\y\r\n\r\n",
        "GET http://u:p@h/first HTTP/1.1\r\nHost: x\r\n\r\n", "GET ftp://h/first HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET http:///first HTTP/1.1\r\nHost: x\r\n\r\n", "GET http:/first HTTP/1.1\r\nHost: x\r\n\r\n",
        "OPTIONS */first HTTP/1.1\r\nHost: x\r\n\r\n", "CONNECT /first HTTP/1.1\r\nHost: x\r\n\r\n",
    ]

    @Test("that could end in two places is not served, and neither is what follows it", arguments: unclearShapes)
    func unclear(request: String) async throws {
        try await withServer(handler: echo) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(request + Self.second)
            let answer = try await client.answer()
            #expect([400, 501, 505].contains(answer.status), "\(answer)")
            #expect(answer.headers["connection"] == "close")
            #expect(try await client.rest() == "")
            #expect(server.statistics.requests == 0)
        }
    }

    static let clearShapes: [(request: String, body: String)] = [
        (post("Content-Length: \t 1\r\n\r\na"), "a"), (post("Content-Length: 0001\r\n\r\na"), "a"),
        (post("content-length:1\r\n\r\na"), "a"), (post("Content-Length: 0\r\n\r\n"), ""), (post("\r\n"), ""),
        (post("TRANSFER-ENCODING: \t chunKed\r\n\r\n0\r\n\r\n"), ""), (chunked("1\r\na\r\n0\r\n\r\n"), "a"),
        (chunked("0000000001\r\na\r\n00\r\n\r\n"), "a"), (chunked("A\r\n0123456789\r\n0\r\n\r\n"), "0123456789"),
        (chunked("1;a;b=c;d=\"e;f\"\r\na\r\n0;x=y\r\n\r\n"), "a"),
        // A trailer comes too late to matter.
        (chunked("1\r\na\r\n0\r\nHost: y\r\nAuthorization: Bearer z\r\n\r\n"), "a"),
        // Names that only resemble those that matter.
        (post("Content_Length: 33\r\nTransfer_Encoding: chunked\r\nX-Content-Length: 1\r\n\r\n"), ""),
        ("\r\n\r\n" + post("Content-Length: 1\r\n\r\na"), "a"),
        ("GET /first HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na", "a"),
        ("GET http://elsewhere:1/first HTTP/1.1\r\nHost: x\r\n\r\n", ""), ("GET /first HTTP/1.1\r\nHost:\r\n\r\n", ""),
    ]

    @Test("that is clear is served, and so is what follows it", arguments: clearShapes)
    func clear(request: String, body: String) async throws {
        try await withServer(handler: echo) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(request + Self.second)
            let first = try await client.answer().body
            #expect(first.contains(" /first ") && first.hasSuffix(" " + body), "\(first)")
            #expect(try await client.answer().body == "GET /second ")
            // Byte by byte, so that nothing is seen at once.
            for byte in request.utf8 { try await client.send(bytes: ByteBuffer(bytes: [byte])) }
            #expect(try await client.answer().body == first)
        }
    }
}
