// Bytes that no HTTP client sends: broken request lines, headers and framing.

import Foundation
import Testing

/// The bytes that are sent, and the statuses that may answer them.
private let brokenRequests: [(bytes: String, statuses: Set<Int>)] = [
    ("GET / HTTP/1.1\r\n\r\n", [400]),
    ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", [400]),
    ("nonsense\r\n\r\n", [400, 505]),
    ("NONSENSE /v1/inbox HTTP/1.1\r\nHost: a\r\n\r\n", [400, 405, 501]),
    ("GET\r\n\r\n", [400, 505]),
    ("GET /v1/inbox HTTP/9.9\r\nHost: a\r\n\r\n", [400, 505]),
    ("GET /health live HTTP/1.1\r\nHost: a\r\n\r\n", [400]),
    ("GET /\u{1} HTTP/1.1\r\nHost: a\r\n\r\n", [400]),
    ("GET / HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n", [400]),
    ("GET / HTTP/1.1\r\nHost: a\r\nX-Y : 1\r\n\r\n", [400]),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: \u{0}\r\n\r\n", [400]),
    ("POST /v1/auth/login HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", [400]),
    ("POST /v1/auth/login HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", [400]),
    ("POST /v1/auth/login HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}", [400]),
    ("POST /v1/auth/login HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}", [400]),
    ("POST /v1/auth/login HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", [400, 501]),
    ("POST /v1/auth/login HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", [400]),
    ("POST /v1/auth/login HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: magic\r\n\r\n{}", [417]),
    ("POST /v1/auth/login HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", [400, 413]),
]

extension SystemTests {
    @Suite("A malformed HTTP request")
    struct MalformedHTTP {
        let node: Node

        init() async throws {
            node = try await TestNodes.shared().a
        }

        @Test("gets its problem document", arguments: brokenRequests)
        func broken(bytes: String, statuses: Set<Int>) async throws {
            try await expectRefusal(of: bytes, statuses)
        }

        @Test("is refused for too long a target or too many headers")
        func sizes() async throws {
            let long = String(repeating: "a", count: 20_000)
            let many = (1...150).map { "X-\($0): 1\r\n" }.joined()
            let cases: [(String, Set<Int>)] = [
                ("GET /\(long) HTTP/1.1\r\nHost: a\r\n\r\n", [414]),
                ("GET / HTTP/1.1\r\nHost: a\r\nX: \(long)\(long)\r\n\r\n", [431]),
                ("GET / HTTP/1.1\r\nHost: a\r\n\(many)\r\n", [431]),
            ]
            for (bytes, statuses) in cases { try await expectRefusal(of: bytes, statuses) }
        }

        private func expectRefusal(
            of bytes: String, _ statuses: Set<Int>, sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            let connection = Connection(node.address)
            try await connection.write(Data(bytes.utf8))
            let answer = try await connection.receive()
            #expect(statuses.contains(answer.status), "\(answer)", sourceLocation: sourceLocation)
            answer.expectProblem("\(answer)", sourceLocation: sourceLocation)
        }

        @Test("is closed after the header timeout when it stays incomplete")
        func slow() async throws {
            let connection = Connection(node.address)
            try await connection.write(Data("GET /health/live HTTP/1.1\r\nHo".utf8))
            let answer = try await connection.receive(within: .seconds(20))
            #expect(answer.status == 408, "\(answer)")
            answer.expectProblem("\(answer)", sourceLocation: #_sourceLocation)
        }

        @Test("does not disturb pipelined requests, which are answered in order")
        func pipelined() async throws {
            let connection = Connection(node.address)
            let paths = ["/health/live", "/v1/nope", "/v1/inbox", "/health/live"]
            try await connection.write(Data(paths.map { "GET \($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined().utf8))
            var statuses: [Int] = []
            for _ in paths { statuses.append(try await connection.receive().status) }
            #expect(statuses[0] == 200 && statuses[3] == 200)
            #expect([401, 404].contains(statuses[1]) && statuses[2] == 401)
        }
    }
}
