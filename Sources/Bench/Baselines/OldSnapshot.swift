// A transaction that holds an old snapshot in the nodes' database, as a backup or a forgotten transaction does.
import Logging
import Postgres
import Synchronization

package struct OldSnapshot: Sendable {
    private let settings: PostgresSettings
    private let logger = Logger(label: "bench")

    package init(conninfo: String) {
        var settings = PostgresSettings(conninfo: conninfo, applicationName: "parley-bench")
        settings.statementTimeout = .zero
        self.settings = settings
    }

    /// Removes dead rows, as autovacuum would in time, and takes a checkpoint. A checkpoint in the middle of a round
    /// would slow that round and spare the next.
    func settle() async throws {
        do {
            try await DedicatedSession.run(settings, answerMax: .seconds(600), logger: logger) { session in
                try session.run("vacuum (analyze)")
                try session.run("checkpoint")
            }
        } catch let error as PostgresError {
            throw BenchFailure("cannot vacuum the database or take a checkpoint: \(error)")
        }
    }

    /// Holds a snapshot taken before `body` until `body` has returned.
    /// - Returns: the result, and how many transactions have begun since the snapshot, as the server reports.
    package func held<Value>(while body: () async throws -> Value) async throws -> (value: Value, age: Int64) {
        let flags = Flags()
        async let age = DedicatedSession.run(settings, answerMax: .seconds(60), logger: logger) { session in
            try session.run("begin isolation level repeatable read")
            _ = try session.query("select count(*) from log_epochs")
            flags.isHeld.store(true, ordering: .releasing)
            // Runs on the session's own thread.
            while !flags.isOver.load(ordering: .acquiring) { _ = try session.query("select pg_sleep(0.1)::text") }
            let age = try session.query(
                "select age(a.backend_xmin)::int8 from pg_stat_activity a where a.pid = pg_backend_pid()")
            try session.run("rollback")
            return try age.first?.int8(0) ?? 0
        }
        try await poll("an old snapshot", within: 10) { flags.isHeld.load(ordering: .acquiring) }
        let value = try await body()
        flags.isOver.store(true, ordering: .releasing)
        do {
            return (value, try await age)
        } catch let error as PostgresError {
            throw BenchFailure("the old snapshot was lost: \(error)")
        }
    }

    private final class Flags: Sendable {
        let isHeld = Atomic(false)
        let isOver = Atomic(false)
    }
}
