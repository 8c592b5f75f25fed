// What a node does now and then for all.
import Log
import Logging
import Store

/// Keeps partitions of the log ahead of its head, and notes when sessions were last used. Any number of nodes may.
struct LogUpkeep: Sendable {
    static let partitionsAhead = 2

    let store: Store
    let sessions: SessionCache
    let logger: Logger

    func run() async throws {
        while true {
            try await Task.sleep(for: .seconds(30))
            do {
                let made = try await store.extendLog(partitionsAhead: Self.partitionsAhead)
                if made > 0 { logger.info("partitions of the log made", metadata: ["count": "\(made)"]) }
                try await sessions.flush()
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                logger.warning("upkeep has to wait", metadata: ["reason": "\(error)"])
            }
        }
    }
}
