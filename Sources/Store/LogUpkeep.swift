// The log's upkeep: its partitions.
import Domain
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
