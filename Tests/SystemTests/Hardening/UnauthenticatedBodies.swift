// Bodies that would fill a node's memory before path and token are checked, and the size limit of each call's body.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Bodies of unauthenticated requests", .serialized, .timeLimit(.minutes(5)))
    struct UnauthenticatedBodies {
        private static let mebibyte = 1024 * 1024

        private func head(_ method: String, _ path: String, _ byteCount: Int, token: String? = nil) -> Data {
            let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
            return Data(
                "\(method) \(path) HTTP/1.1\r\nHost: x\r\n\(authorization)Content-Length: \(byteCount)\r\n\r\n".utf8)
        }

        @Test("are not read: unknown path, wrong method, no token, invalid token and too large are answered first")
        func early() async throws {
            let nodes = try await TestNodes.shared()
            let thread = "/v1/threads/\(UUID().uuidString.lowercased())/messages"
            let token = HostileHeaders.madeUpToken
            for (method, path, byteCount, token, status) in [
                ("POST", "/nothing/here", Self.mebibyte, nil, 404), ("POST", "/v1/users/me/", 10, nil, 404),
                ("PUT", "/v1/inbox", Self.mebibyte, nil, 405), ("POST", thread, Self.mebibyte, nil, 401),
                ("POST", thread, 10, "parley_nonsense", 401), ("PATCH", "/v1/users/me", 70_000, token, 413),
                ("POST", "/v1/auth/login", 40_000, nil, 413), ("POST", "/v1/receipts", 300_000, token, 413),
                ("PUT", thread.replacing("/messages", with: "/typing"), 5_000, token, 413),
            ] as [(String, String, Int, String?, Int)] {
                let connection = Connection(nodes.a.address)
                try await connection.write(head(method, path, byteCount, token: token))
                let answer = try await connection.receive()
                #expect(answer.status == status, "\(method) \(path): \(answer)")
                #expect(answer.headers["content-type"] == "application/problem+json")
                #expect(answer.headers["connection"] == (byteCount > 65_536 ? "close" : nil))
            }
        }

        @Test("use no memory where the call has no body, and bounded memory elsewhere, which is freed afterwards")
        func memory() async throws {
            let database = try await TestCluster.shared().createDatabase()
            let node = try await Node.start(
                database: database, settings: ["PARLEY_INCOMING_BYTES_MAX": "\(32 * Self.mebibyte)"])
            let others = try await OtherUsers.join(node)
            let thread = "/v1/threads/\(UUID().uuidString.lowercased())/messages"
            let token = HostileHeaders.madeUpToken
            let body = Data(repeating: UInt8(ascii: " "), count: Self.mebibyte - 10)
            let idle = node.residentMemoryMiB
            for (path, token) in [("/nothing/here", nil), (thread, token)] as [(String, String?)] {
                let head = head("POST", path, Self.mebibyte, token: token)
                var peak = 0
                // Each client sends all but ten bytes and keeps its connection open as long as the node allows.
                try await withThrowingTaskGroup(of: Connection.self) { group in
                    for _ in 0..<200 {
                        group.addTask {
                            let connection = Connection(node.address)
                            try await connection.write(head)
                            // Refused ones may be closed while they still send.
                            try? await connection.write(body)
                            return connection
                        }
                    }
                    var connections: [Connection] = []
                    for try await connection in group {
                        connections.append(connection)
                        peak = max(peak, node.residentMemoryMiB)
                    }
                    // Other clients are served meanwhile.
                    let times = try await others.sends(for: 1)
                    #expect(times.refusedCount == 0 && times.max < 2_000)
                    peak = max(peak, node.residentMemoryMiB)
                    for connection in connections { await connection.close() }
                }
                print("bodies of strangers: \(path): idle \(idle) MiB, peak \(peak) MiB")
                // 200 MiB were sent, and 32 may be held. Buffers double as they grow.
                #expect(peak - idle <= 110, "\(path): \(idle) -> \(peak) MiB")
            }
            #expect(try await node.metric("parley_http_bodies_refused_total") ?? 0 >= 50)
            try await eventually("the memory to be returned to the system") {
                node.residentMemoryMiB - idle <= 40 ? true : nil
            }
            #expect(try await node.metric("parley_http_body_bytes") == 0)
        }

        @Test("are never parsed as a request: after an early answer the body is dropped or the connection closes")
        func smuggling() async throws {
            let nodes = try await TestNodes.shared()
            let evil = Data("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
            let small = Connection(nodes.a.address)
            try await small.write(head("POST", "/nothing/here", evil.count))
            #expect(try await small.receive().status == 404)
            try await small.write(evil)
            try await small.write(head("GET", "/health/ready", 0))
            #expect(try await small.receive().json["status"] == "ready")

            let large = Connection(nodes.a.address)
            try await large.write(head("POST", "/nothing/here", 1_000_000))
            try await large.write(evil)
            #expect(try await large.receive().status == 404)
            #expect(try await large.receiveEnd())
        }

        @Test("may hold a thousand marks, or the largest message in small pieces")
        func allowed() async throws {
            let nodes = try await TestNodes.shared()
            let ann = try await nodes.a.client.register("Ann")
            let thread = try await nodes.a.client.thread(
                "direct", by: ann, with: [try await nodes.a.client.register("Ben")])
            _ = try await nodes.a.client.sent("hi", in: thread, as: ann)
            let connection = Connection(nodes.a.address)
            let marks = JSON.array(Array(repeating: ["thread_id": .string(thread), "read": 1], count: 1_000))
            #expect(try await connection.post("/v1/receipts", ["receipts": marks], as: ann).status == 204)

            // 16 KiB of text, each character escaped in six.
            let text = String(repeating: "\\u0041", count: 16 * 1024)
            let body = Data("{\"payload\":{\"text\":\"\(text)\"}}".utf8)
            let slow = Connection(nodes.a.address)
            try await slow.write(head("POST", "/v1/threads/\(thread)/messages", body.count, token: ann.token))
            for start in stride(from: 0, to: body.count, by: 20_000) {
                try await slow.write(body[start..<min(start + 20_000, body.count)])
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(try await slow.receive().status == 201)
        }
    }
}
