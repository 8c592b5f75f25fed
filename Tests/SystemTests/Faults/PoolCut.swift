// The pool's connections are half-open: statements leave and no answer ever arrives.

import TestSupport
import Testing

extension SystemTests.Faults {
    @Test(
        "the pool's connections half-open: their statements time out, the other node goes on, no message is lost")
    func poolCut() async throws {
        let cluster = try await TestCluster.shared()
        let database = try await cluster.createDatabase()
        let proxy = try cluster.proxy()
        let node = try await Node.start(
            database: TestCluster.conninfo(database, through: proxy), settings: ["PARLEY_LISTEN_URL": database])
        let other = try await Node.start(database: database)
        let outcome = try await Traffic.run(through: [node, other]) { traffic in
            try await traffic.flow(60)
            proxy.strand()
            // The node reports not ready, so proxies avoid it, but it still answers requests.
            try await node.waitUntil(ready: false)
            try await traffic.flow(100)
            #expect(try await Connection(node.address).get("/health/live").status == 200)
            // A statement may run for 15 s in the server, and its answer may arrive 5 s later.
            try await node.waitUntil(ready: true, within: .seconds(60))
            try await traffic.flow(60)
        }
        #expect(answersUnderFaults.isSuperset(of: outcome.statuses.keys), "\(outcome.statuses)")
        try await outcome.checkDelivery(on: node)
        _ = try await (node.stop(), other.stop())
    }
}
