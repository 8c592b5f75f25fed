// Thousands of polls wait, and what they wait at goes away: all come back, get all, and are in nobody's way.

import TestSupport
import Testing

extension SystemTests.Faults {
    @Test(
        "10,000 waiting polls through the ends of nodes and of PostgreSQL: all are served again, and hold up nobody else",
        .timeLimit(.minutes(3)))
    func herdReturns() async throws {
        let cluster = try await StoppableCluster.running()
        let database = try await cluster.createDatabase()
        let fleet = try await Fleet.start(2, on: database)
        let herd = try await Herd.gather(10_000, wait: 5, in: database, on: cluster, at: fleet.addresses)
        async let running = herd.swarm.run()
        try await herd.swarm.waitUntilWaiting(within: .seconds(60))
        try await herd.tell("before")

        // One half loses its connections in the same moment, and finds the other node.
        var slowest = try await herd.slowestSend(at: fleet.addresses[1]) {
            try await fleet.kill(0)
            try await herd.tell("while a node is away", at: fleet.addresses[1])
            try await herd.swarm.waitUntilWaiting(within: .seconds(30))
        }
        #expect(slowest < .seconds(3), "a send took \(slowest) after kill -9")
        #expect(herd.swarm.counts.reconnects >= herd.count / 2)
        try await fleet.restart(0)

        // All of them are at the node that goes now, and have just asked. It sends them away one after the other.
        try await herd.tell("with both nodes")
        try await fleet[1].waitForPolls(herd.count)
        let closings = Spread { herd.swarm.counts.closings }
        slowest = try await herd.slowestSend(at: fleet.addresses[0]) {
            let exit = try await closings.watch { try await fleet.stop(1) }
            #expect(exit == .status(0))
            try await herd.tell("after a node has gone", at: fleet.addresses[0])
            try await herd.swarm.waitUntilWaiting(within: .seconds(30))
        }
        #expect(slowest < .seconds(3), "a send took \(slowest) after SIGTERM")
        #expect(closings.total >= herd.count, "\(closings)")
        // A sixth, if all goes evenly over the three seconds.
        #expect(closings.most(within: .milliseconds(500)) < herd.count / 3, "\(closings)")
        try await fleet.restart(1)

        // All have asked at once, and the time of all is up while PostgreSQL is away: they ask again before it is back.
        try await herd.tell("before PostgreSQL goes")
        let before = herd.swarm.counts
        try await cluster.crash(away: .seconds(6))
        try await fleet.waitUntil(ready: true)
        slowest = try await herd.slowestSend(at: fleet.addresses[1]) {
            try await herd.tell("after PostgreSQL was away")
            try await herd.swarm.waitUntilWaiting(within: .seconds(30))
        }
        #expect(slowest < .seconds(3), "a send took \(slowest) after the crash")
        let after = herd.swarm.counts
        #expect(after.failures == before.failures && after.expired == 0, "\(after)")
        #expect(after.refused.keys.allSatisfy { $0 == 503 }, "\(after)")

        try await herd.tell("at the end")
        herd.swarm.stop()
        for outcome in try await running {
            let verdict = outcome.deliveries.verdict(heads: [herd.room: 7])
            #expect(verdict.isGood && verdict.messages == 7, "\(verdict)")
        }
        try await fleet.stopAll()
    }
}
