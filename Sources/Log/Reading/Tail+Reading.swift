// Reading the log to its end, in order, and noticing new epochs.
import Basics
import Domain
import FoundationEssentials
import Logging
import Store

extension Tail {
    /// The most events of one read.
    static let pageCount = 1000

    func read() async throws {
        let why = state.withLock { state in
            defer { (state.notifiedAt, state.isToBeChecked, state.isBehindOwn) = (nil, false, false) }
            return state
        }
        if why.isToBeChecked {
            let start = ContinuousClock.now
            if try await checkEpoch() == hub.head {
                // The check has shown that this node is at the log's end, so an idle node makes one query, not two.
                state.withLock { $0.caughtUpAt = start }
                return
            }
        }
        let cause =
            why.notifiedAt != nil
            ? TailMetrics.Cause.notify : why.isBehindOwn ? .own : why.isToBeChecked ? .safety : .poll
        try await readOn(cause, notifiedAt: why.notifiedAt)
    }

    /// Reads to the log's end.
    private func readOn(_ cause: TailMetrics.Cause, notifiedAt: ContinuousClock.Instant?) async throws {
        while true {
            let read = hub.head
            let start = ContinuousClock.now
            let part = try await store.readLog(after: read.position, limit: Self.pageCount)
            if let first = part.events.first {
                if part.epoch != read.epoch || first.position.value != read.position.value + 1 {
                    try await checkEpoch()
                    // The node may have moved to another point: read from there.
                    if hub.head != read { continue }
                    guard part.epoch == read.epoch else {
                        // Two connections lead to databases with different epochs.
                        throw Problem(
                            .unavailable, "This node is starting. Retry after the seconds in Retry-After.",
                            retryAfterS: 1)
                    }
                }
                take(part.events, after: read.position)
                count(part.events, cause, notifiedAt: notifiedAt)
            }
            if part.events.count < Self.pageCount {
                state.withLock { $0.caughtUpAt = start }
                return
            }
        }
    }

    private func take(_ stored: [StoredEvent], after: Position) {
        var expected = after.value + 1
        var gaps = 0
        for event in stored {
            if event.position.value != expected { gaps += 1 }
            expected = event.position.value + 1
        }
        if gaps > 0 {
            logger.critical(
                "positions are missing in the log", metadata: ["after": "\(after.value)", "gaps": "\(gaps)"])
        }
        revokeTokens(in: stored)
        hub.apply(stored.map(Event.init))
        metrics.gaps.add(gaps)
    }

    func revokeTokens(in stored: [StoredEvent]) {
        for event in stored {
            if let session = event.session { sessions.revoke(session, at: event.position) }
            if let key = event.adminKey { adminKeys.revoke(key, at: event.position) }
        }
    }

    func count(
        _ delivered: [StoredEvent], _ cause: TailMetrics.Cause, notifiedAt: ContinuousClock.Instant?
    ) {
        metrics.reads.add(cause)
        metrics.events.add(cause, delivered.count)
        if let notifiedAt { metrics.deliveries.record(ContinuousClock.now - notifiedAt) }
        recordAges(of: delivered)
    }

    func recordAges(of delivered: [StoredEvent]) {
        let now = WallClock.micros
        for event in delivered { metrics.ages.record(.microseconds(now - event.at.microsSince1970)) }
    }

    /// Checks that the log still continues from what this node has read. If it continues in a new epoch, only
    /// sessions and admin keys are dropped, because no event reports a lost one. If it does not continue, everything is
    /// dropped.
    /// - Returns: the log's end at the time of the check.
    @discardableResult
    private func checkEpoch() async throws -> Cursor {
        let read = hub.head
        var place = try await store.place(of: read)
        if place.state == .lost, place.now.epoch == read.epoch {
            try await store.reportLoss(of: read)
            place = try await store.place(of: read)
        }
        let metadata: Logger.Metadata = [
            "epoch": "\(place.now.epoch)", "read": "\(read.position.value)", "now": "\(place.now.position.value)",
        ]
        if place.state == .kept {
            guard place.now.epoch != read.epoch, let end = place.epochEnd else { return place.now }
            sessions.restart(at: place.now.position)
            adminKeys.restart(at: place.now.position)
            guard hub.adopt(epoch: place.now.epoch, after: end, from: read) else { return place.now }
            logger.notice("the log continues in a new epoch", metadata: metadata)
            metrics.epochs.add()
        } else {
            let isLost = place.state == .lost
            logger.error(
                isLost
                    ? "the database lost events that this node had read; dropping all caches"
                    : "the log was trimmed past what this node has read; dropping all caches",
                metadata: metadata)
            sessions.restart(at: place.now.position)
            adminKeys.restart(at: place.now.position)
            hub.restart(at: place.now)
            metrics.restarts.add()
        }
        return place.now
    }
}
