// kill -9 and SIGSTOP of nodes under load: acknowledged messages stay, and every device gets everything once, in order.

import TestSupport
import Testing

extension SystemTests {
    @Suite("A node that is killed", .timeLimit(.minutes(5)))
    struct KilledNodes {
        @Test("loses and duplicates nothing for writers and pollers that switch to the other node")
        func killed() async throws {
            let nodes = try await TestNodes.own(on: try await TestCluster.shared())
            let restarted = Restarted()
            let outcome = try await Traffic.run(through: [nodes.a, nodes.b]) { traffic in
                try await traffic.flow(200)
                try await nodes.a.kill()
                try await traffic.flow(200)
                // At the same address, as a supervisor restarts it.
                let a = try await Node.start(database: nodes.database, port: nodes.a.address.port)
                await restarted.keep(a)
                try await traffic.flow(200)
                try await nodes.b.kill()
                try await traffic.flow(200)
                let b = try await Node.start(database: nodes.database, port: nodes.b.address.port)
                await restarted.keep(b)
                try await traffic.flow(200)
                try await a.kill()
                let again = try await Node.start(database: nodes.database, port: nodes.a.address.port)
                await restarted.keep(again)
                try await traffic.flow(200)
            }
            let node = try #require(await restarted.nodes.last)
            try await outcome.checkDelivery(on: node)
            #expect(outcome.messageCount >= 1_200)
            // 0 stands for no answer while a node was down; every other status is an answer.
            #expect(outcome.statuses.keys.allSatisfy { [0, 200, 201, 503].contains($0) }, "\(outcome.statuses)")
        }

        @Test("or that is paused and continued, loses and duplicates nothing either")
        func stopped() async throws {
            let nodes = try await TestNodes.own(on: try await TestCluster.shared())
            let outcome = try await Traffic.run(through: [nodes.a, nodes.b]) { traffic in
                try await traffic.flow(200)
                // The other node's clients go on, unless the hanging node holds the log's lock: never for long.
                await nodes.a.whileStopped { await traffic.tryToFlow(200, within: .seconds(5)) }
                try await traffic.flow(200)
            }
            try await outcome.checkDelivery(on: nodes.b)
            try await nodes.stop()
        }
    }
}

private actor Restarted {
    var nodes: [Node] = []

    func keep(_ node: Node) { nodes.append(node) }
}
