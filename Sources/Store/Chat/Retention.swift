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
}
