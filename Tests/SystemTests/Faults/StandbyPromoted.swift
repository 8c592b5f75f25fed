// Another server replaces PostgreSQL: one that is up to date, or one that lacks the last writes.

import Synchronization
import TestSupport
import Testing

extension SystemTests.Faults {
    @Test("an up-to-date standby promoted: nodes find it, polls keep waiting, no client has to reload")
    func standbyPromoted() async throws {
        let primary = try await TestCluster.own()
        let standby = try await primary.standby()
        let database = TestCluster.conninfo(
            database: try await primary.createDatabase(), onOneOf: [primary, standby])
        let nodes = try await RestartableNodes.start(2, on: database)
        let outcome = try await Traffic.run(through: nodes.addresses) { traffic in
            let (writer, reader) = (Connection(nodes.addresses[0]), Connection(nodes.addresses[1]))
            let (ann, bob) = (try await writer.register("Ann"), try await writer.register("Bob"))
            let thread = try await writer.thread("direct", by: ann, with: [bob])
            let cursor = try await writer.cursor(of: bob)
            async let poll = reader.sync(bob, from: cursor, wait: 50)
            try await traffic.flow(100)
            // The shutdown ends when the standby has received everything.
            await primary.stop(.fast)
            try await standby.promote()
            try await traffic.flow(100)
            try await nodes.waitUntil(ready: true)
            let id = try await writer.sent("after", in: thread, as: ann)
            let answer = try await poll
            #expect(answer.json["events"].items.map { $0["data"]["id"].string } == [id], "\(answer)")
        }
        #expect(answersUnderFaults.isSuperset(of: outcome.statuses.keys), "\(outcome.statuses)")
        try await outcome.checkDelivery(on: nodes[1])
        for index in 0..<2 {
            #expect(try await nodes[index].metric("parley_log_epochs_total") == 1)
            #expect(try await nodes[index].metric("parley_log_restarts_total") == 0)
        }
        try await nodes.stopAll()
        await standby.close()
        await primary.close()
    }

    @Test("a standby promoted without the log's tail: clients that saw the tail reload, others do not")
    func standbyPromotedWithLoss() async throws {
        let primary = try await TestCluster.own()
        let standby = try await primary.standby()
        try await loseTail(of: primary) { _, witnesses, traffic in
            try await primary.waitUntilShown(by: standby)
            try await standby.stopFollowing()
            try await witnesses.writeTail()
            try await traffic.flow(100)
            try await standby.promote()
            return standby
        }
        await primary.close()
    }

    @Test("a dump restored into a new cluster while the old one accepts writes: clients that saw the tail reload")
    func dumpRestored() async throws {
        let cluster = try await TestCluster.own()
        try await loseTail(of: cluster) { database, witnesses, traffic in
            let restored = try await cluster.restoredDump(of: database)
            try await witnesses.writeTail()
            try await traffic.flow(50)
            return restored
        }
        await cluster.close()
    }

    /// Switches two nodes from one cluster to another that lacks their last writes. The first cluster keeps running without
    /// nodes, so that the test can read the lost messages from it.
    /// - Parameter makeOther: returns the other cluster, after the witnesses have written the messages that will be lost.
    private func loseTail(
        of cluster: TestCluster,
        _ makeOther: @Sendable @escaping (String, inout LostTailWitnesses, Traffic) async throws -> TestCluster
    ) async throws {
        let database = try await cluster.createDatabase()
        let proxy = try cluster.proxy()
        let nodes = try await RestartableNodes.start(2, on: TestCluster.conninfo(database, through: proxy))
        let successor = Mutex<TestCluster?>(nil)
        let outcome = try await Traffic.run(through: nodes.addresses) { traffic in
            var witnesses = try await LostTailWitnesses.gather(at: nodes.addresses)
            try await traffic.flow(60)
            let other = try await makeOther(database, &witnesses, traffic)
            successor.withLock { $0 = other }
            proxy.redirect(to: .unix(other.socket))
            try await traffic.flow(60)
            try await nodes.waitUntil(ready: true)
            try await witnesses.checkDelivery()
            try await traffic.flow(60)
        }
        #expect(answersUnderFaults.union([410]).isSuperset(of: outcome.statuses.keys), "\(outcome.statuses)")
        let left = try await Node.start(database: database)
        let verdict = try await outcome.checkDelivery(on: nodes[1], left: left)
        // Every device had received a part of the lost tail, so all were refused.
        #expect(verdict.lostCount > 0 && verdict.refusedCount == outcome.followers.count, "\(verdict)")
        try await left.stop()
        try await nodes.stopAll()
        await successor.withLock(\.self)?.close()
    }
}
