// The client for thousands of polls, against real nodes. Other tests rely on it.

import Bench
import TestSupport
import Testing

@Suite("A swarm of polls", .timeLimit(.minutes(5)))
struct PollSwarms {
    @Test("follows every thread while a node ends, losing and duplicating nothing", .timeLimit(.minutes(1)))
    func nodeEnds() async throws {
        let nodes = try await TestNodes.own(
            on: try await TestCluster.shared(),
            settings: ["PARLEY_SESSION_POLLS_MAX": "100", "PARLEY_ACCOUNT_POLLS_MAX": "100"])
        let ann = try await nodes.b.client.register("Ann")
        let ben = try await nodes.b.client.register("Ben")
        let thread = try await nodes.b.client.thread("direct", by: ann, with: [ben])
        let key = try #require(ThreadKey(thread))
        let cursor = try await nodes.b.client.cursor(of: ann)
        let members = (0..<100).map {
            PollSwarm.Member(token: $0 % 2 == 0 ? ann.token : ben.token, cursor: cursor, heads: [key: 0])
        }
        let swarm = try PollSwarm(urls: nodes.addresses.map(\.description), members: members)
        async let running = swarm.run()
        try await swarm.waitUntilWaiting(within: .seconds(10))
        try await nodes.a.waitForPolls(50)

        _ = try await nodes.b.client.sent("one", in: thread, as: ann)
        try await eventually("the first message everywhere") { swarm.counts.messages == 100 }
        try await nodes.a.kill()
        _ = try await nodes.b.client.sent("two", in: thread, as: ben)
        try await eventually("the second message everywhere") { swarm.counts.messages == 200 }
        try await swarm.waitUntilWaiting(within: .seconds(10))
        #expect(swarm.counts.failures >= 50)
        #expect(swarm.counts.reconnects >= 50)
        #expect(swarm.counts.refused == [:])

        swarm.stop()
        let outcomes = try await running
        #expect(outcomes.count == 100)
        for outcome in outcomes {
            let verdict = outcome.deliveries.verdict(heads: [key: 2])
            #expect(verdict.isGood && verdict.messages == 2, "\(verdict)")
        }
    }

    @Test("counts refusals by status, and stops when its task is cancelled", .timeLimit(.minutes(1)))
    func refusals() async throws {
        let node = try await TestNodes.shared().a
        let swarm = try PollSwarm(
            urls: [node.address.description], members: [PollSwarm.Member(token: "parley_nobody")])
        let running = Task { try await swarm.run() }
        try await eventually("two refusals") { swarm.counts.refused[401, default: 0] >= 2 }
        #expect(swarm.counts.waiting == 0)
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
    }
}
