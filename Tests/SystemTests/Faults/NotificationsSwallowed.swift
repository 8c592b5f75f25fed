// PgBouncer in transaction mode accepts LISTEN, reports success, and forwards no notification.

import TestSupport
import Testing

extension SystemTests.Faults {
    @Test("NOTIFY swallowed by PgBouncer in transaction mode: events arrive within about a second, the log says why")
    func notificationsSwallowed() async throws {
        let cluster = try await TestCluster.shared()
        let database = try await cluster.createDatabase()
        let bouncer = try await cluster.pooler(.transaction)
        // Both nodes connect through the pooler to an empty database and migrate it there. One has a direct URL for LISTEN.
        let deaf = try await Node.start(database: bouncer.conninfo(database))
        let hearing = try await Node.start(
            database: bouncer.conninfo(database),
            settings: ["PARLEY_LISTEN_URL": database, "PARLEY_LOG_LEVEL": "debug"])
        let outcome = try await Traffic.run(through: [deaf, hearing]) { traffic in try await traffic.flow(300) }
        #expect(outcome.statuses.keys.allSatisfy { [200, 201].contains($0) }, "\(outcome.statuses)")

        let reason = "a transaction pooler swallows LISTEN. PARLEY_LISTEN_URL must lead directly to PostgreSQL"
        try await deaf.waitUntilLogged(reason)
        #expect(hearing.loggedCount(reason) == 0 && hearing.loggedCount("listening for notifications") == 2)
        #expect(try await deaf.metric(#"parley_log_reads_total{cause="notify"}"#) == 0)
        #expect(try await hearing.metric(#"parley_log_reads_total{cause="notify"}"#) ?? 0 > 0)
        let (late, soon) = (try await delay(on: deaf), try await delay(on: hearing))
        #expect(soon < .seconds(1) && late < .seconds(3), "\(soon) with LISTEN, \(late) without")
        try await outcome.checkDelivery(on: deaf)
        _ = try await (deaf.stop(), hearing.stop())
    }

    /// Returns the median time, of five, from sending a message to its arrival at a waiting poll.
    private func delay(on node: Node) async throws -> Duration {
        let (ann, bob) = (try await node.client.register("Ann"), try await node.client.register("Bob"))
        let connections = (Connection(node.address), Connection(node.address))
        let thread = try await connections.0.thread("direct", by: ann, with: [bob])
        var delays: [Duration] = []
        while delays.count < 5 {
            let cursor = try await connections.1.cursor(of: bob)
            async let poll = connections.1.sync(bob, from: cursor, wait: 10)
            // In vain if it is answered at once, by what is said below.
            try? await node.waitForPolls()
            let start = ContinuousClock.now
            let id = try await connections.0.sent("hi", in: thread, as: ann)
            // The event may be the delivered mark of the message before; such a round does not count.
            let events = try await poll.json["events"].items
            guard events.first?["type"] != "receipt.updated" else { continue }
            #expect(events.map { $0["data"]["id"].string } == [id])
            delays.append(start.duration(to: .now))
        }
        return delays.sorted()[2]
    }
}
