// Bodies that would fill a node's memory before path and token are checked. TransportTests (DecidingByTheHead) and
// APITests (DescriptionOfTheAPI) have the rules.

import Basics
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

        @Test("use no memory where the call has no body, and bounded memory elsewhere, which is freed afterwards")
        func memory() async throws {
            let database = try await TestCluster.shared().createDatabase()
            let node = try await Node.start(
                database: database, settings: ["PARLEY_INCOMING_BYTES_MAX": "\(32 * Self.mebibyte)"])
            let others = try await OtherUsers.join(node)
            let thread = "/v1/threads/\(UUID().uuidString.lowercased())/messages"
            // A well-formed session token of no session: `parley_`, 32 bytes and their CRC-32.
            let bytes = (0..<32).map { _ in UInt8.random(in: 0...255) }
            let token = "parley_" + Base64.urlSafe.encode(bytes + CRC32.bytes(of: bytes))
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
                node.residentMemoryMiB - idle <= 40
            }
            #expect(try await node.metric("parley_http_body_bytes") == 0)
        }
    }
}
