// Reading the events of an endpoint: those after its cursor, and again those that failed earlier.
import Domain
import Store
import Webhooks

extension WebhookLane {
    private static let openPageCount = 1_000

    /// Reads the place and the events that wait, once. Returns false if the turn is over.
    func open() async throws -> Bool {
        guard let place = try await store.openWebhook(id, turn: turn) else {
            state.withLock { $0.phase = .over }
            return false
        }
        if place.droppedCount > 0 { reportLoss(place.droppedCount) }
        var waiting: [OpenDelivery] = []
        while true {
            let page = try await store.openDeliveries(
                id, after: waiting.last?.position ?? .start, limit: Self.openPageCount)
            waiting += page
            if page.count < Self.openPageCount { break }
        }
        state.withLock { state in
            for delivery in waiting {
                state.items[delivery.position] = Item(
                    event: delivery.event, thread: delivery.thread, atMs: delivery.atMs)
                state.queue.add(
                    delivery.position, thread: delivery.thread, tryCount: delivery.tryCount, dueMs: delivery.nextMs,
                    isStored: true)
            }
            state.readTo = place.cursor
            state.settledCursor = place.cursor
        }
        return true
    }

    /// Reads the next events of the log if there is room for them. Returns whether there is more to read at once.
    func read() async throws -> Bool {
        let head = head()
        let wanted = state.withLock { state -> (cursor: Cursor, webhook: LeasedWebhook)? in
            guard state.isRunning, let cursor = state.readTo, state.hasMore || head > cursor.position,
                state.queue.count - state.queue.storedCount < limits.aheadCountMax,
                state.queue.storedCount < limits.openCountMax, state.byteCount < limits.aheadByteCountMax
            else { return nil }
            return (cursor, state.webhook)
        }
        guard let (cursor, webhook) = wanted else { return false }
        switch try await store.changes(after: cursor, types: webhook.types, limit: limits.readCountMax) {
        case .expired:
            // The log was trimmed, or has lost its tail: the database says where to go on.
            state.withLock { $0.phase = .stopping }
            return false
        case .part(let changes, let next, let end):
            // Outside of the lock: rendering costs some microseconds an event.
            let items = changes.map { ($0, Item($0, isThin: webhook.isThin)) }
            return state.withLock { state in
                for (change, item) in items where state.items[change.id.position] == nil {
                    state.items[change.id.position] = item
                    state.byteCount += item.message?.body.count ?? 0
                    state.queue.add(change.id.position, thread: change.thread)
                }
                state.readTo = next
                state.head = end.position
                state.hasMore = next.position < end.position
                return state.hasMore
            }
        }
    }

    /// Reads the content of events that failed earlier and whose time has come, and sends them.
    func readMissing() async throws {
        while let (position, webhook, epoch) = state.withLock({ state in
            state.missing.first.map { ($0, state.webhook, state.readTo?.epoch ?? 0) }
        }) {
            let before = Cursor(epoch: epoch, position: Position(position.value - 1))
            var found: Change?
            if case .part(let changes, _, _) = try await store.changes(after: before, limit: 1) {
                found = changes.first { $0.id.position == position }
            }
            let isLost = state.withLock { state -> Bool in
                state.missing.removeAll { $0 == position }
                guard let item = state.items[position] else { return false }
                guard let found, found.id.description == item.event else {
                    state.items[position] = nil
                    state.queue.done(position)
                    state.outcomes.remove(position)
                    return true
                }
                let message = Item(found, isThin: webhook.isThin).message
                state.items[position]?.message = message
                state.byteCount += message?.body.count ?? 0
                return false
            }
            if isLost { reportLoss(1) } else { send(position) }
        }
    }

    func reportLoss(_ count: Int) {
        metrics.lost.add(count)
        log.error(
            "events were not delivered to a webhook: the log no longer has them; check the endpoint and PARLEY_LOG_DAYS",
            reason: "\(count) events")
    }
}

extension WebhookLane.Item {
    init(_ change: Change, isThin: Bool) {
        self.init(
            event: change.id.description, thread: change.thread, atMs: change.at.microsSince1970 / 1_000,
            message: WebhookMessage(
                id: change.id.description, type: change.type, at: change.at, thread: change.thread, actor: change.actor,
                data: change.data, isThin: isThin))
    }
}
