// A node's connections to PostgreSQL, and the purpose of each pool.
import Logging
import Postgres

/// Three pools, so that a slow statement of one kind never delays another kind.
///
/// Each pool has its own I/O thread, which sleeps while nothing is under way. A pool opens connections when it needs
/// them.
package struct DatabasePools: Sendable {
    /// For the log: appending, the tail, and looking up sessions, which every request depends on.
    package let log: PostgresClient
    /// For everything else that writes or locks rows, including background workers.
    package let changes: PostgresClient
    /// For statements that only read, in read-only transactions. PostgreSQL cancels a statement after `readTimeout`.
    package let reads: PostgresClient

    /// - Parameters:
    ///   - settings: its number of connections is for all three together; each pool gets at least one.
    ///   - readTimeout: `statement_timeout` of `reads`. The other pools keep the one of `settings`.
    package init(_ settings: PostgresSettings, readTimeout: Duration, logger: Logger) {
        let share = Share(of: settings.connectionCountMax)
        func limited(to count: Int) -> PostgresSettings {
            var limited = settings
            limited.connectionCountMax = count
            return limited
        }
        var reading = limited(to: share.reads)
        reading.statementTimeout = readTimeout
        reading.isReadOnly = true
        // One at a time: a read never waits behind a slow read while another connection is free.
        reading.inFlightPerConnectionMax = 1
        let reads = PostgresClient(reading, logger: logger)
        self.reads = reads
        // Only a pool that writes notices that the server has become read-only.
        log = PostgresClient(limited(to: share.log), logger: logger) { reads.reconnect() }
        changes = PostgresClient(limited(to: share.changes), logger: logger) { reads.reconnect() }
    }

    /// Half of the connections for reads, three tenths for the log, the rest for changes.
    struct Share: Equatable {
        let log: Int
        let changes: Int
        let reads: Int

        init(of count: Int) {
            log = max(1, count * 3 / 10)
            reads = max(1, count / 2)
            changes = max(1, count - log - reads)
        }
    }

    /// Each pool with its name in the metrics.
    package var named: [(name: String, client: PostgresClient)] {
        [("log", log), ("changes", changes), ("reads", reads)]
    }

    /// Shuts all down at the same time: each may take `shutdownMax`.
    package func shutdown() async {
        await withDiscardingTaskGroup { group in
            for pool in named { group.addTask { await pool.client.shutdown() } }
        }
    }
}
