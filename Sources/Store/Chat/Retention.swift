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
        try await value("retention_sweep", [.int(limit), .int(silentDays), .bool(deliveredFirst)]) {
            Int(try $0.int4(0))
        }
    }

    /// Of the `limit` threads after `thread`, by id, clears the first one that has messages older than `maxS` of a part
    /// of them. Runs on every node.
    /// - Returns: where to continue, nil at the end, and how many old messages there were.
    package func limitRetention(
        after thread: ThreadID?, limit: Int, maxS: Int
    ) async throws -> (next: ThreadID?, lookedCount: Int) {
        try await row("retention_limit", [.uuid(orNull: thread?.uuid), .int(limit), .int(maxS)]) {
            ($0.isNull(0) ? nil : ThreadID(try $0.uuid(0)), Int(try $0.int4(1)))
        }
    }
}
