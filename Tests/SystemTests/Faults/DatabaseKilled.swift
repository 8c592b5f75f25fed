// PostgreSQL crashes without warning, several times, and once only one of its sessions.

import TestSupport
import Testing

extension SystemTests.Faults {
    @Test(
        "PostgreSQL killed and restarted under load, then one session killed, which ends all other sessions")
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
        try await outcome.checkDelivery(onAndStop: nodes, reading: 1)
    }
}
