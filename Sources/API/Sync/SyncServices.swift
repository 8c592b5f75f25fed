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
    let reads: AccountReads
    let streamMetrics: StreamMetrics
    let logger: Logger

    init(
        authenticator: Authenticator, hub: Hub, store: Store, reads: AccountReads, streamMetrics: StreamMetrics,
        logger: Logger
    ) {
        self.authenticator = authenticator
        self.hub = hub
        self.store = store
        self.reads = reads
        self.streamMetrics = streamMetrics
        self.logger = logger
    }

    /// The end of the log, for a client without a cursor.
    func now(for user: UserID) async throws -> Cursor { try await reads.run(for: user) { try await store.now() } }
}
