// Withdrawing content of messages whose retention has ended.
import Domain
import Postgres

extension Store {
    /// Withdraws a part of what is due: messages whose time is over, or content that every device has. Runs on every
    /// node.
    /// - Parameters:
    ///   - silentDays: a device that was not used for this many days is not waited for.
    ///   - deliveredFirst: whether to look for delivered content first; a call does one of the two.
    /// - Returns: how much was due, at most `limit`; 0 when nothing is.
    package func sweepRetention(limit: Int, silentDays: Int, deliveredFirst: Bool) async throws -> Int {
        let row = try await row(
            Statement("retention_sweep", "select retention_sweep($1, $2, $3)"),
            [.int4(Int32(limit)), .int4(Int32(silentDays)), .bool(deliveredFirst)])
        return try await decoded { Int(try row.int4(0)) }
    }

    /// Of the `limit` threads after `thread`, by id, clears the first one that has messages older than `maxS` of a part
    /// of them. Runs on every node.
    /// - Returns: where to continue, nil at the end, and how many old messages there were.
    package func limitRetention(
        after thread: ThreadID?, limit: Int, maxS: Int
    ) async throws -> (next: ThreadID?, lookedCount: Int) {
        let row = try await row(
            Statement("retention_limit", "select * from retention_limit($1, $2, $3)"),
            [.uuid(orNull: thread?.uuid), .int4(Int32(limit)), .int4(Int32(maxS))])
        return try await decoded { (row.isNull(0) ? nil : ThreadID(try row.uuid(0)), Int(try row.int4(1))) }
    }
}
