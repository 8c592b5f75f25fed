// The limit of connections: idle ones close for new ones; those with a request or a waiting poll stay.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Connections at the limit", .timeLimit(.minutes(2)))
    struct ConnectionLimits {
        private static let countMax = 24

        @Test("idle connections close for new ones, waiting polls stay, and no client is refused")
        func idleMakeWay() async throws {
            let node = try await Node.start(
                database: try await TestCluster.shared().createDatabase(),
                settings: [
                    "PARLEY_CONNECTIONS_MAX": "\(Self.countMax)", "PARLEY_ADDRESS_CONNECTIONS_PERCENT": "100",
                ])
            let ann = try await node.client.register("Ann")
            let cursor = try await node.client.cursor(of: ann)
            let poll = Connection(node.address)
            var request = Request("GET", "/v1/sync?wait=20&cursor=\(cursor)")
            request.headers = [("Authorization", "Bearer \(ann.token)")]
            try await poll.begin(request)
            try await node.waitForPolls()

            // Clients that keep idle connections do not delay others.
            var hoard: [Connection] = []
            for _ in 0..<Self.countMax * 2 {
                let connection = Connection(node.address)
                #expect(try await connection.get("/health/live").status == 200)
                hoard.append(connection)
            }
            let others = try await OtherUsers.join(node)
            let times = try await others.sends(for: 0.5)
            #expect(times.refusedCount == 0)
            #expect(try await node.metric("parley_http_connections_refused_total") == 0)
            #expect(try await node.metric("parley_http_connections_displaced_total") ?? 0 >= Double(Self.countMax))
            #expect(try await node.metric("parley_polls_waiting") == 1)

            let thread = try await node.client.thread("direct", by: ann, with: [try await node.client.register("Ben")])
            #expect(!thread.isEmpty)
            #expect(try await poll.receive().json["events"].items.count >= 1)
            withExtendedLifetime(hoard) {}
        }
    }
}
