// The listening connection is half-open: nothing arrives on it, and neither side is notified.

import TestSupport
import Testing

extension SystemTests.Faults {
    @Test("the listening connection half-open: safety reads continue, and it is detected and replaced")
    func listenerCut() async throws {
        let cluster = try await TestCluster.shared()
        let database = try await cluster.createDatabase()
        let proxy = try cluster.proxy()
        let node = try await Node.start(
            database: database,
            settings: [
                "PARLEY_LISTEN_URL": TestCluster.conninfo(database, through: proxy), "PARLEY_LOG_LEVEL": "debug",
            ])
        let other = try await Node.start(database: database)
        let outcome = try await Traffic.run(through: [node, other]) { traffic in
            try await traffic.flow(60)
            try await eventually("two listeners through the proxy") { proxy.connectionCount == 2 }
            #expect(node.loggedCount("listening for notifications") == 2)
            proxy.strand()
            // The loss is not detected yet, but events still arrive within a second.
            let before = try await node.unheardReadCount()
            try await eventually("safety reads that find events without a notification") {
                try await node.unheardReadCount() > before + 2
            }
            #expect(node.loggedCount("listening for notifications") == 2)
            // An idle machine needs up to 20 s.
            try await node.waitUntilLogged("no answer to the heartbeat", within: .seconds(40))
            try await node.waitUntilLogged("listening for notifications", moreOftenThan: 2)
            try await traffic.flow(60)
        }
        #expect(outcome.statuses.keys.allSatisfy { [200, 201].contains($0) }, "\(outcome.statuses)")
        try await outcome.checkDelivery(on: node)
        _ = try await (node.stop(), other.stop())
    }
}

extension Node {
    /// The number of safety reads, and of reads for the node's own writes after other nodes' writes.
    fileprivate func unheardReadCount() async throws -> Double {
        var count = 0.0
        for cause in ["safety", "own"] { count += try await metric(#"parley_log_reads_total{cause="\#(cause)"}"#) ?? 0 }
        return count
    }
}
