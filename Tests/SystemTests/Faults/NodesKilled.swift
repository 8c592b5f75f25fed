// kill -9 of one node after another, while people write and their devices switch nodes.

import TestSupport
import Testing

extension SystemTests.Faults {
    @Test("nodes killed with -9, one at a time and two at once, and restarted at the same address")
    func nodesKilled() async throws {
        let nodes = try await RestartableNodes.start(3, on: try await MigratedDatabase.create())
        let outcome = try await Traffic.run(through: nodes.addresses) { traffic in
            for victims in [[0], [1], [2], [0, 1], [2, 0]] {
                try await traffic.flow(60)
                for victim in victims { try await nodes.kill(victim) }
                try await traffic.flow(30)
                for victim in victims { try await nodes.restart(victim) }
            }
            try await traffic.flow(60)
        }
        try await outcome.checkDelivery(onAndStop: nodes)
    }
}
