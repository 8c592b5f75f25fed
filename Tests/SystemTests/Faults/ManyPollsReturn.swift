// Thousands of polls wait while nodes and PostgreSQL stop. All return, receive everything and delay no other user.

import TestSupport
import Testing

extension SystemTests.Faults {
    @Test(
        "10,000 waiting polls while nodes and PostgreSQL end: all are served again and delay no other user",
        .timeLimit(.minutes(6)))
    func manyPollsReturn() async throws {
        let cluster = try await StoppableCluster.running()
        let database = try await cluster.createDatabase()
        let nodes = try await RestartableNodes.start(2, on: database)
        let polls = try await ManyPolls.gather(10_000, wait: 5, in: database, on: cluster, at: nodes.addresses)
        async let running = polls.swarm.run()
        try await polls.swarm.waitUntilWaiting(within: .seconds(60))
        let usual = try await polls.slowestSend(at: nodes.addresses[1]) { try await polls.sendToAll("before") }
        let slowMax = max(.seconds(3), usual * 5)

        // One half loses its connections at the same moment, and switches to the other node.
        var slowest = try await polls.slowestSend(at: nodes.addresses[1]) {
            try await nodes.kill(0)
            try await polls.sendToAll("while a node is away", at: nodes.addresses[1])
            try await polls.swarm.waitUntilWaiting(within: .seconds(60))
        }
        #expect(slowest < slowMax, "a send took \(slowest) after kill -9, and \(usual) before")
        #expect(polls.swarm.counts.reconnects >= polls.count / 2)
        try await nodes.restart(0)

        // All polls wait at the node that stops now. It closes them spread over time.
        try await polls.sendToAll("with both nodes")
        try await nodes[1].waitForPolls(polls.count)
        let closings = Spread { polls.swarm.counts.closings }
        slowest = try await polls.slowestSend(at: nodes.addresses[0]) {
            try await closings.watch { try await nodes.stop(1) }
            try await polls.sendToAll("after a node has gone", at: nodes.addresses[0])
            try await polls.swarm.waitUntilWaiting(within: .seconds(60))
        }
        #expect(slowest < slowMax, "a send took \(slowest) after SIGTERM, and \(usual) before")
        #expect(closings.total >= polls.count, "\(closings)")
        // A sixth of them, if they are spread evenly over the three seconds and the machine keeps up.
        #expect(closings.most(within: .milliseconds(500)) < polls.count / 2, "\(closings)")
        try await nodes.restart(1)

        // All polls started together and time out while PostgreSQL is down: they poll again before it is back.
        try await polls.sendToAll("before PostgreSQL goes")
        let before = polls.swarm.counts
        try await cluster.crash(away: .seconds(6))
        try await nodes.waitUntil(ready: true)
        slowest = try await polls.slowestSend(at: nodes.addresses[1]) {
            try await polls.sendToAll("after PostgreSQL was away")
            try await polls.swarm.waitUntilWaiting(within: .seconds(60))
        }
        #expect(slowest < slowMax, "a send took \(slowest) after the crash, and \(usual) before")
        let after = polls.swarm.counts
        #expect(after.failures == before.failures && after.expired == 0, "\(after)")
        #expect(after.refused.keys.allSatisfy { $0 == 503 }, "\(after)")

        try await polls.sendToAll("at the end")
        polls.swarm.stop()
        for outcome in try await running {
            let verdict = outcome.deliveries.verdict(heads: [polls.room: 7])
            #expect(verdict.isGood && verdict.messages == 7, "\(verdict)")
        }
        try await nodes.stopAll()
    }
}
