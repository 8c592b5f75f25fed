// A forgotten transaction, or a backup, keeps PostgreSQL from cleaning up. `parley bench send --old-snapshot` measures
// the cost over a longer time.

import Bench
import TestSupport
import Testing

extension SystemTests.Faults {
    @Test("an old snapshot held open: no effect on clients")
    func oldSnapshot() async throws {
        let cluster = try await TestCluster.shared()
        let database = try await cluster.createDatabase()
        let nodes = try await RestartableNodes.start(2, on: database)
        let outcome = try await Traffic.run(through: nodes.addresses) { traffic in
            try await traffic.flow(30)
            let (_, age) = try await OldSnapshot(conninfo: database).held { try await traffic.flow(400) }
            // Four people wait for their answers: a transaction holds four messages at most.
            #expect(age >= 100, "\(age) transactions began since the snapshot")
            try await traffic.flow(30)
        }
        #expect(outcome.statuses.keys.allSatisfy { [200, 201].contains($0) }, "\(outcome.statuses)")
        try await outcome.checkDelivery(on: nodes[1])
        try await nodes.stopAll()
    }
}
