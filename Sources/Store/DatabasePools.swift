// A node's connections to PostgreSQL, and the purpose of each pool.
import Logging
import Postgres

/// A pool for each kind of statement, so that a slow statement of one kind never delays another kind.
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
    /// For writing and deleting the bytes of attachments: one statement at a time, so that uploads do not slow the log's
    /// commits, and none of the others waits behind a large file.
    package let fileWrites: PostgresClient
    /// This pool reads the bytes of attachments.
    package let fileReads: PostgresClient
    /// For imports of archives, whose statements may last for minutes. One statement at a
    /// time: the cleanup of abandoned imports waits for an import.
    package let imports: PostgresClient
    /// For reads on a replica; nil without one.
    package let replica: ReplicaClients?

    /// - Parameters:
    ///   - settings: its number of connections is for `log`, `changes` and `reads` together; each gets at least one.
    ///   - replica: where a replica is; it gets as many connections as `reads`, and one more.
    ///   - readTimeout: `statement_timeout` of `reads`. The other pools keep the one of `settings`.
    package init(
        _ settings: PostgresSettings, replica: PostgresSettings? = nil, readTimeout: Duration, logger: Logger
    ) {
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
        var readingFiles = reading
        readingFiles.connectionCountMax = 2
        let fileReads = PostgresClient(readingFiles, logger: logger)
        self.fileReads = fileReads
        // Only a pool that writes notices that the server has become read-only.
        let reconnectReads: @Sendable () -> Void = {
            reads.reconnect()
            fileReads.reconnect()
        }
        log = PostgresClient(limited(to: share.log), logger: logger, serverIsReadOnly: reconnectReads)
        changes = PostgresClient(limited(to: share.changes), logger: logger, serverIsReadOnly: reconnectReads)
        var writingFiles = limited(to: 1)
        writingFiles.inFlightPerConnectionMax = 1
        fileWrites = PostgresClient(writingFiles, logger: logger, serverIsReadOnly: reconnectReads)
        imports = PostgresClient(
            Self.forImports(limited(to: 1)), logger: logger, serverIsReadOnly: reconnectReads)
        self.replica = replica.map { ReplicaClients($0, connectionCount: share.reads, readTimeout, logger) }
    }

    /// Without `statement_timeout`: an import is applied in one statement.
    package static func forImports(_ settings: PostgresSettings) -> PostgresSettings {
        var settings = settings
        settings.statementTimeout = .zero
        settings.lockTimeout = .seconds(60)
        settings.waitMax = .seconds(60)
        settings.inFlightPerConnectionMax = 1
        return settings
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
        var named: [(name: String, client: PostgresClient)] = [
            ("log", log), ("changes", changes), ("reads", reads), ("file_writes", fileWrites),
            ("file_reads", fileReads), ("imports", imports),
        ]
        if let replica { named += [("replica", replica.reads), ("replica_watch", replica.watch)] }
        return named
    }

    /// Sets when all pools shut down by themselves, even if the database does not answer.
    package func end(by time: ContinuousClock.Instant) {
        for pool in named { pool.client.end(by: time) }
    }

    /// Shuts all down at the same time: each may take `shutdownMax`.
    package func shutdown() async {
        await withDiscardingTaskGroup { group in
            for pool in named { group.addTask { await pool.client.shutdown() } }
        }
    }
}

/// The connections to a replica.
package struct ReplicaClients: Sendable {
    /// Reads, each with a check of what the replica has replayed.
    package let reads: PostgresClient
    /// One connection that asks what the replica has replayed, so that this never waits for a slow read.
    package let watch: PostgresClient
    let logger: Logger

    /// Times are short, because the primary can answer each of these reads: a wait for a connection, for a lock that the
    /// replay holds, and for a server that does not answer at all.
    init(_ settings: PostgresSettings, connectionCount: Int, _ readTimeout: Duration, _ logger: Logger) {
        self.logger = logger
        var reading = settings
        reading.isReadOnly = true
        reading.acceptsStandby = true
        reading.inFlightPerConnectionMax = 1
        reading.waitMax = .seconds(1)
        reading.lockTimeout = .milliseconds(500)
        reading.stallGrace = .seconds(1)
        reading.connectionCountMax = connectionCount
        reading.statementTimeout = readTimeout
        reads = PostgresClient(reading, logger: logger)
        reading.connectionCountMax = 1
        reading.statementTimeout = .seconds(1)
        watch = PostgresClient(reading, logger: logger)
    }
}
