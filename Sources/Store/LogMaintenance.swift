// The log's upkeep: its partitions.
import Domain
import Logging
import Postgres

extension Store {
    /// Makes partitions of the log ahead of its head.
    /// - Parameter days: how long the log is kept, by which they are sized.
    /// - Returns: how many were made, and the position from which on there may be more to make.
    package func extendLog(days: Int) async throws -> (madeCount: Int, next: Position) {
        let row = try await row(Statement("log_extend", "select * from log_extend($1)"), [.int4(Int32(days))])
        return try await decoded { (Int(try row.int4(0)), Position(try row.int8(1))) }
    }
}

/// Drops the partitions of the log that are older than it is kept. Not by the pool: the steps stand outside of
/// transactions, and one of them waits for whoever reads the log at the time, a dump for instance.
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

    /// Trims what there is to trim, unless another session is at it; gives how many partitions were dropped. Whatever
    /// fails leaves the rest to the next call: while a step waits for readers it can fail with 55P03 again and again,
    /// without harm to anybody.
    /// - Throws: `Problem`, `CancellationError`.
    package func trim() async throws -> Int {
        do {
            let days = days
            return try await DedicatedSession.run(settings, answerMax: .seconds(3600), logger: logger) { session in
                guard try session.query("select pg_try_advisory_lock(7266003)").first?.bool(0) == true else { return 0 }
                var droppedCount = 0
                while let step = try session.query(
                    "select * from log_trim_step($1::int4)", [.int4(Int32(days))]
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
