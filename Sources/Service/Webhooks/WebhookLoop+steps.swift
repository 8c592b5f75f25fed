// The steps of a loop that need the database: reading the place, the log and single events, and recording.
import Domain
import Store
import Webhooks
import Workers

extension WebhookLoop {
    private static let openPageCount = 1_000
    /// Events of one read.
    private static let readCountMax = 256

    func read(_ step: WebhookSchedule.Reading) async throws {
        switch step {
        case .open: try await open()
        case .read(let cursor): try await read(after: cursor)
        case .load(let positions, let cursor): try await load(positions, by: cursor)
        }
    }

    /// Reads the place and the events that wait.
    private func open() async throws {
        guard let place = try await store.openWebhook(id, claim: claim) else {
            deliveries.update { $0.claimEnded() }
            return
        }
        if place.droppedCount > 0 { reportLoss(place.droppedCount) }
        var waiting: [OpenDelivery] = []
        while true {
            let page = try await store.openDeliveries(
                id, after: waiting.last?.position ?? .start, limit: Self.openPageCount)
            waiting += page
            if page.count < Self.openPageCount { break }
        }
        let now = DeliveryClock.system.now()
        deliveries.update { [waiting] in $0.opened(at: place.cursor, waiting: waiting, now: now) }
    }

    /// Reads the next events of the log.
    private func read(after cursor: Cursor) async throws {
        let webhook = webhook.withLock { $0 }
        switch try await store.changes(for: webhook, after: cursor, limit: Self.readCountMax) {
        case .superseded, .read(.expired):
            // The next loop has the present settings. Or the log was trimmed, or has lost its tail: the database says
            // where to continue.
            deliveries.update { $0.stop() }
        case .read(.part(let changes, let next, let end)):
            // Outside of the lock: rendering costs some microseconds an event.
            let events = changes.map { WebhookSchedule.Event($0, isThin: webhook.isThin) }
            deliveries.update { $0.read(events, next: next, end: end.position) }
        }
    }

    /// Reads the content of events that failed or waited, and sends those whose time has come.
    private func load(_ positions: [Position], by cursor: Cursor) async throws {
        let webhook = webhook.withLock { $0 }
        guard case .read(.part(let changes, _, _)) = try await store.changes(for: webhook, after: cursor, at: positions)
        else {
            // As in `read`. The next loop retries them.
            deliveries.update { $0.stop() }
            return
        }
        let events = changes.map { WebhookSchedule.Event($0, isThin: webhook.isThin) }
        let now = DeliveryClock.system.now()
        let loaded = deliveries.update { $0.loaded(positions, events, now: now) }
        send(loaded.sends)
        if loaded.lostCount > 0 { reportLoss(loaded.lostCount) }
    }

    /// Records outcomes, the events that wait behind failed ones, and the cursor. What is not recorded is delivered again.
    func settle(_ settlement: WebhookSettlement) async throws {
        let isOurs = try await store.settleWebhook(
            id, claim: claim, revision: revision, cursor: settlement.cursor, settlement.outcomes)
        let now = DeliveryClock.system.now()
        deliveries.update { $0.settled(isOurs: isOurs, now: now) }
    }

    private func reportLoss(_ count: Int) {
        metrics.lost.add(count)
        log.error(
            "events were not delivered to a webhook: the log no longer has them; check the endpoint and PARLEY_LOG_DAYS",
            reason: "\(count) events")
    }
}

extension WebhookSchedule.Event {
    fileprivate init(_ change: Change, isThin: Bool) {
        self.init(
            position: change.id.position, thread: change.thread, atMs: change.at.microsSince1970 / 1_000,
            message: WebhookMessage(
                id: change.id.description, type: change.type, at: change.at, thread: change.thread, actor: change.actor,
                data: change.data, isThin: isThin))
    }
}
