// PostgreSQL's disk is full. First its tables cannot grow; then its write-ahead log cannot, and PostgreSQL stops.

import TestSupport
import Testing

extension SystemTests.Faults {
    @Test(
        "PostgreSQL's disk full: 503, no acknowledged message is lost, and service resumes when there is space",
        .enabled(if: SmallDisk.isPermitted, "no small disk can be mounted: this requires root and CAP_SYS_ADMIN"))
    func diskFull() async throws {
        let cluster = try await TestCluster.own(diskByteCount: 160 << 20)
        let disk = try #require(cluster.disk)
        let nodes = try await RestartableNodes.start(2, on: try await cluster.createDatabase())
        let outcome = try await Traffic.run(through: nodes.addresses) { traffic in
            try await traffic.flow(60)
            try disk.fill()
            let before = traffic.refusalCount
            // A batch waits at most 5 s.
            try await eventually("a refused message") { traffic.refusalCount > before }
            disk.free()
            try await traffic.flow(60)

            // Without room for the next segment of its write-ahead log PostgreSQL stops, and cannot start again.
            try disk.fill()
            await #expect(throws: Psql.Failure.self) { try await cluster.psql("select pg_switch_wal(); checkpoint") }
            try await nodes.waitUntil(ready: false)
            disk.free()
            if !cluster.isRunning { try await cluster.start() }
            try await nodes.waitUntil(ready: true)
            try await traffic.flow(60)
        }
        try await outcome.checkDelivery(onAndStop: nodes)
        await cluster.close()
    }
}
