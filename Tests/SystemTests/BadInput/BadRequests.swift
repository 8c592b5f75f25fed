// Bad requests to a real process: transport, routes and log together. Each kind has its table of requests in APITests
// (Problems) or TransportTests (RefusingRequests).

import Foundation
import TestSupport
import Testing

/// The bytes that are sent, and the status and code of the problem that must answer them. The first are no requests.
private let badRequests: [(bytes: String, status: Int, code: String?)] = [
    ("nonsense\r\n\r\n", 400, nil),
    ("GET /health live HTTP/1.1\r\nHost: a\r\n\r\n", 400, nil),
    ("POST /v1/auth/login HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}", 400, nil),
    ("GET /\(String(repeating: "a", count: 20_000)) HTTP/1.1\r\nHost: a\r\n\r\n", 414, nil),
    ("GET / HTTP/1.1\r\nHost: a\r\n\((1...150).map { "X-\($0): 1\r\n" }.joined())\r\n", 431, nil),
    ("GET /v1/nothing HTTP/1.1\r\nHost: a\r\n\r\n", 404, "not_found"),
    ("PUT /v1/inbox HTTP/1.1\r\nHost: a\r\n\r\n", 405, "method_not_allowed"),
    ("GET /v1/inbox HTTP/1.1\r\nHost: a\r\n\r\n", 401, "unauthenticated"),
    ("GET /v1/inbox HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\n\r\n", 401, "invalid_token"),
    (post("{\"username\"", type: "application/json"), 400, "malformed_json"),
    (post("{}", type: "application/json"), 422, "invalid"),
    (post("{}", type: "text/plain"), 415, "unsupported_media_type"),
    ("POST /v1/auth/register HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\n", 413, "body_too_large"),
]

private func post(_ body: String, type: String) -> String {
    "POST /v1/auth/register HTTP/1.1\r\nHost: a\r\nContent-Type: \(type)\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
}

extension SystemTests {
    @Suite("A bad request to a node", .timeLimit(.minutes(1)))
    struct BadRequests {
        @Test("gets its problem document, and no line with the level error")
        func problems() async throws {
            let node = try await TestNodes.shared().a
            for (bytes, status, code) in badRequests {
                let connection = Connection(node.address)
                try await connection.write(Data(bytes.utf8))
                let answer = try await connection.receive()
                let note: Comment = "\(bytes.prefix(100)): \(answer)"
                #expect(answer.status == status, note)
                #expect(answer.headers["content-type"]?.hasPrefix("application/problem+json") == true, note)
                #expect(answer.json["status"].int == status && answer.json["detail"].string?.isEmpty == false, note)
                if let code { #expect(answer.code == code, note) }
            }
            #expect(!node.program.errors.contains(" error "), "\(node.program.errors)")
        }

        @Test("does not disturb pipelined requests, which are answered in order")
        func pipelined() async throws {
            let connection = Connection(try await TestNodes.shared().a.address)
            let paths = ["/health/live", "/v1/nope", "/v1/inbox", "/health/live"]
            try await connection.write(Data(paths.map { "GET \($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined().utf8))
            var statuses: [Int] = []
            for _ in paths { statuses.append(try await connection.receive().status) }
            #expect(statuses == [200, 404, 401, 200])
        }
    }
}
