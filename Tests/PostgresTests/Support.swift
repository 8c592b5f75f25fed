// Shared by the suites with a real server: clients that are shut down, and waits with a limit.

import Logging
import Postgres
import TestSupport

struct TookTooLong: Error {}

/// Runs `body` with a time limit.
func bounded<Value: Sendable>(
    _ longest: Duration = .seconds(30), _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask(operation: body)
        group.addTask {
            try await Task.sleep(for: longest)
            throw TookTooLong()
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw TookTooLong() }
        return value
    }
}

/// A client of a new database on the shared cluster, shut down at the end.
func withClient(
    connections: Int = 2, conninfo: String? = nil, _ change: (inout PostgresSettings) -> Void = { _ in },
    logger: Logger = .quiet,
    _ body: (PostgresClient) async throws -> Void
) async throws {
    let address: String
    if let conninfo { address = conninfo } else { address = try await TestCluster.shared().createDatabase() }
    var settings = PostgresSettings(test: address)
    settings.connectionCountMax = connections
    // A statement at a closed gate waits for a lock, on a busy machine for long.
    settings.lockTimeout = .seconds(60)
    change(&settings)
    let client = PostgresClient(settings, logger: logger)
    do {
        try await body(client)
    } catch {
        await client.shutdown()
        throw error
    }
    await client.shutdown()
}

extension PostgresClient {
    /// SQL that is used once.
    @discardableResult
    func run(_ sql: String, _ parameters: [Parameter] = []) async throws -> Rows {
        try await query(Statement("test", sql), parameters)
    }
}

/// Delays statements until the test releases them: `Gate.pass` waits in the server until the gate is opened.
struct Gate {
    static let pass = "select pg_advisory_xact_lock_shared(1)::text, 42::int4"
    private let client: PostgresClient

    /// Creates a closed gate in this database.
    static func closed(_ conninfo: String, _ body: (Gate) async throws -> Void) async throws {
        try await withClient(connections: 1, conninfo: conninfo) { client in
            try await client.run("select pg_advisory_lock(1)::text")
            try await body(Gate(client: client))
        }
    }

    func open() async throws { try await client.run("select pg_advisory_unlock(1)") }
}
