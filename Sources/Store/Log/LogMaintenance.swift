// Maintenance of the log: its partitions.
import Domain
import Logging
import Postgres

extension Store {
    /// Makes partitions ahead of the log's head.
    /// - Parameter days: how long the log is kept; it determines their size.
    /// - Returns: how many were made, and the position at which to call again.
    package func extendLog(days: Int) async throws -> (madeCount: Int, next: Position) {
        try await row("log_extend", [.int(days)]) { (Int(try $0.int4(0)), Position(try $0.int8(1))) }
    }
}

/// Drops partitions that are older than the log is kept. Uses its own connection: the steps run outside of
/// transactions, and one of them waits for all transactions that read the log, for instance a dump.
package struct LogTrimmer: Sendable {
    private let settings: PostgresSettings
    private let days: Int
    private let logger: Logger

    /// - Parameter settings: leading directly to PostgreSQL.
    package init(_ settings: PostgresSettings, days: Int, logger: Logger) {
        var settings = settings
        settings.statementTimeout = .zero
        self.settings = settings
        self.days = days
        self.logger = logger
    }

    /// Trims the log, unless another session does. Returns how many partitions were dropped. After a failure the next
    /// call continues. A step that waits for readers may fail with 55P03 many times; that does no harm.
    /// - Throws: `Problem`, `CancellationError`.
    package func trim() async throws -> Int {
        do {
            let days = days
            return try await DedicatedSession.run(settings, answerMax: .seconds(3600), logger: logger) { session in
                guard try session.query("select log_trim_begin()").first?.bool(0) == true else { return 0 }
                // The next session need not wait until PostgreSQL has noticed that this one has ended.
                defer { _ = try? session.query("select log_trim_end()") }
                var droppedCount = 0
                while let step = try session.query(
                    "select * from log_trim_step($1::int4)", [.int(days)]
                ).first {
                    try session.run(try step.text(0))
                    if try step.bool(1) { droppedCount += 1 }
                }
                return droppedCount
            }
        } catch let error as PostgresError {
            throw Problem(database: error)
        }
    }
}
