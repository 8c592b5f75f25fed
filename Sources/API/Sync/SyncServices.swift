// The lower layers as polls and event streams use them.
import Domain
import Log
import Logging
import Store

/// Shared by all polls and event streams of a node.
final class SyncServices: Sendable {
    let authenticator: Authenticator
    let hub: Hub
    let store: Store
    /// A poll that is answered or parked at once does not count.
    let reads: CallSlots<UserID>
    let streamMetrics = StreamMetrics()
    let logger: Logger

    init(_ calls: CallServices) {
        (authenticator, hub, store) = (calls.authenticator, calls.log.hub, calls.store)
        (reads, logger) = (calls.reads, calls.logger)
    }

    /// The end of the log, for a client without a cursor.
    func now(for user: UserID) async throws -> Cursor { try await reads.run(for: user) { try await store.now() } }
}
