// kill -9, node after node, while people write and their devices ask another node each time.

import TestSupport
import Testing

extension SystemTests.Faults {
    @Test("nodes killed with -9, one after the other and two at once, started again at the same address")
    func nodesKilled() async throws {
        let nodes = try await RestartableNodes.start(3, on: try await TestCluster.shared().createDatabase())
        let outcome = try await Traffic.run(through: nodes.addresses) { traffic in
            for victims in [[0], [1], [2], [0, 1], [2, 0]] {
                try await traffic.flow(60)
                for victim in victims { try await nodes.kill(victim) }
                try await traffic.flow(30)
                for victim in victims { try await nodes.restart(victim) }
            }
            try await traffic.flow(60)
        }
        #expect(answersUnderFaults.isSuperset(of: outcome.statuses.keys), "\(outcome.statuses)")
        try await outcome.judge(on: nodes[0])
        try await nodes.stopAll()
    }
}
