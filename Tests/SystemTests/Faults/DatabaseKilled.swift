// PostgreSQL goes down without a word to anyone, again and again, and once only one of its sessions does.

import TestSupport
import Testing

extension SystemTests.Faults {
    @Test(
        "PostgreSQL killed and started again under load, and one of its sessions killed, which takes all others along")
    func databaseKilled() async throws {
        let cluster = try await StoppableCluster.running()
        let nodes = try await RestartableNodes.start(2, on: try await cluster.createDatabase())
        let outcome = try await Traffic.run(through: nodes.addresses) { traffic in
            for round in 1...4 {
                try await traffic.flow(60)
                if round == 2 {
                    #expect(try await cluster.killSession())
                } else {
                    try await cluster.crash()
                }
            }
            try await nodes.waitUntil(ready: true)
            try await traffic.flow(60)
        }
        #expect(answersUnderFaults.isSuperset(of: outcome.statuses.keys), "\(outcome.statuses)")
        try await outcome.judge(on: nodes[1])
        try await nodes.stopAll()
    }
}
