// Nodes that many tests share. Starting them for each test would take most of the run.

import Synchronization
import TestSupport
import Testing

/// Two nodes, A and B, on one database.
struct TestNodes: Sendable {
    let a: Node
    let b: Node
    /// A libpq connection string.
    let database: String

    var addresses: [Address] { [a.address, b.address] }

    private static let sharedStart = Mutex<Task<TestNodes, any Error>?>(nil)

    /// The pair that suites share. No test may stop or kill these nodes.
    static func shared() async throws -> TestNodes {
        let start = sharedStart.withLock { start in
            let running =
                start
                ?? Task {
                    // Browsers may register for alerts.
                    try await own(
                        on: try await TestCluster.shared(),
                        settings: ["PARLEY_WEBPUSH_SUBJECT": "mailto:push@example.org"])
                }
            start = running
            return running
        }
        return try await start.value
    }

    private static let administeredStart = Task {
        try await own(
            on: try await TestCluster.shared(),
            settings: [
                "PARLEY_ADMIN_TOKEN": admin.token, "PARLEY_PUSH_ALLOW_PRIVATE": "true", "PARLEY_WEBHOOK_RETRIES": "1,1",
            ])
    }

    /// A second shared pair: with an admin token, and with webhooks to this machine, which are retried twice after 1 s.
    /// No test may stop or kill these nodes.
    static func administered() async throws -> TestNodes { try await administeredStart.value }

    /// Who calls the admin API of the administered pair.
    static let admin = Person(id: "", username: "", password: "", session: "", token: "admin-of-the-shared-nodes")

    /// A pair for one test, on a new database.
    static func own(on cluster: TestCluster, settings: [String: String] = [:]) async throws -> TestNodes {
        try await own(database: try await MigratedDatabase.create(on: cluster), settings: settings)
    }

    /// A pair for one test, on a database.
    static func own(database: String, settings: [String: String] = [:]) async throws -> TestNodes {
        async let a = Node.start(database: database, settings: settings)
        async let b = Node.start(database: database, settings: settings)
        return try await TestNodes(a: a, b: b, database: database)
    }

    func stop() async throws {
        async let first = a.stop()
        async let second = b.stop()
        _ = try await (first, second)
    }
}

/// A PostgreSQL for tests that stop it, shared: one test runs at a time, and each leaves it running.
enum StoppableCluster {
    private static let started = Task { try await TestCluster.own() }

    static func running() async throws -> TestCluster {
        let cluster = try await started.value
        if !cluster.isRunning { try await cluster.start() }
        return cluster
    }
}
