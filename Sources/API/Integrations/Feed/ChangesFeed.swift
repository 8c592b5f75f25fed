// Reads the changes feed, and waits for more of it.
import Domain
import Log
import Store
import Synchronization

/// What a reader of the feed gets next.
struct ChangesPart: Sendable {
    var changes: [Change]
    /// Where to continue.
    var cursor: Cursor
    /// Whether to ask again at once.
    var more: Bool
}

/// Serves the readers of the changes feed on this node. A reader at the end of the log waits for the node's tail, without
/// a query.
final class ChangesFeed: Sendable {
    /// Polls and streams on a node.
    private static let readerCountMax = 100
    /// Events that come together are read together. A reader of a busy log gets fewer and larger parts.
    private static let gatherTime = Duration.milliseconds(20)
    /// Between reads that return nothing: the log has grown by events of other types, or the node's tail is behind.
    private static let fruitlessPause = Duration.milliseconds(200)
    /// A read that finds nothing of the wanted types is followed by the next one for this long.
    private static let searchTime = Duration.seconds(2)

    /// The cursor has expired; `next` misses nothing that the log still has.
    struct Expired: Error { var next: Cursor }

    let store: Store
    private let hub: Hub
    let metrics: ChangesMetrics

    init(store: Store, hub: Hub, metrics: ChangesMetrics) {
        self.store = store
        self.hub = hub
        self.metrics = metrics
    }

    /// The node stops: waiting readers are answered.
    var isClosing: Bool { hub.moved.isClosed }

    /// Counts a poll or a stream while it lasts. Throws `overloaded` if there are too many.
    func enter() throws(Problem) {
        guard metrics.enter(countMax: Self.readerCountMax) else {
            throw Problem(
                .overloaded, "This node serves \(Self.readerCountMax) readers of changes already. Retry later.",
                retryAfterS: 5)
        }
    }

    func leave() { metrics.leave() }

    /// Returns events after a cursor, at once if there are any, and otherwise after `wait` at the latest.
    /// - Parameter types: nil for all.
    /// - Throws: `Expired`, problems, and `CancellationError`.
    func next(
        after start: Cursor, types: Set<EventType>?, limit: Int, wait: Duration
    ) async throws -> ChangesPart {
        let began = ContinuousClock.now
        let deadline = began + wait
        var cursor = start
        // At the end that the tail has read there is nothing yet. Without a wait the reader must get all that any node
        // has answered before, so the database is asked.
        var isAtEnd = wait > .zero && cursor == hub.head
        while true {
            var pause = Duration.zero
            if !isAtEnd {
                let part = try await read(after: cursor, types: types, limit: limit)
                if cursor.position < part.cursor.position { pause = Self.fruitlessPause }
                cursor = part.cursor
                let isOver = ContinuousClock.now - began >= Self.searchTime
                if !part.changes.isEmpty || isClosing || (part.more && isOver) { return part }
                if part.more { continue }
            }
            try await waitForMore(than: cursor, until: deadline, pause: pause)
            guard hasMore(than: cursor), !isClosing else {
                return ChangesPart(changes: [], cursor: cursor, more: false)
            }
            // The log grows by other events all the time.
            if ContinuousClock.now >= deadline, !isAtEnd {
                return ChangesPart(changes: [], cursor: cursor, more: false)
            }
            isAtEnd = false
        }
    }

    private func read(
        after cursor: Cursor, types: Set<EventType>?, limit: Int
    ) async throws -> ChangesPart {
        metrics.reads.add()
        switch try await store.changes(after: cursor, types: types, limit: limit) {
        case .expired(let next): throw Expired(next: next)
        case .part(let changes, let next, let head):
            metrics.events.add(changes.count)
            return ChangesPart(changes: changes, cursor: next, more: next.position < head.position)
        }
    }

    private func hasMore(than cursor: Cursor) -> Bool {
        let head = hub.head
        return head.position > cursor.position || head.epoch != cursor.epoch
    }

    /// Waits until this node's tail has read further than `cursor`, or until the deadline.
    private func waitForMore(
        than cursor: Cursor, until deadline: ContinuousClock.Instant, pause: Duration
    ) async throws {
        guard ContinuousClock.now < deadline else { return }
        if pause > .zero { try await Task.sleep(for: min(pause, deadline - .now)) }
        // The tail may move without reaching the cursor, which another node may have returned.
        while !hasMore(than: cursor), !isClosing, ContinuousClock.now < deadline {
            await hub.moved.wait(for: deadline - .now) { self.hasMore(than: cursor) }
            try Task.checkCancellation()
        }
        // Not at the deadline: there is nothing to gather.
        if hasMore(than: cursor), !isClosing { try await Task.sleep(for: Self.gatherTime) }
    }
}
