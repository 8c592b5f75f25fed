// Withdrawing the content of messages that is to be kept no longer.
import Domain
import Postgres

extension Store {
    /// Withdraws a part of what is due: messages whose time is up, or content that every device has. Several nodes may call
    /// this at the same time.
    /// - Parameters:
    ///   - silentDays: a device that hasn't been used for so long is not waited for.
    ///   - deliveredFirst: which of the two is looked at first; a call does one.
    /// - Returns: how much was due of what this call looked at, at most `limit`; 0 when nothing is.
    package func sweepRetention(limit: Int, silentDays: Int, deliveredFirst: Bool) async throws -> Int {
        let row = try await row(
            Statement("retention_sweep", "select retention_sweep($1, $2, $3)"),
            [.int4(Int32(limit)), .int4(Int32(silentDays)), .bool(deliveredFirst)])
        return try await decoded { Int(try row.int4(0)) }
    }
}
