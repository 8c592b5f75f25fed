// The consequences of an endpoint's answers for its events.
import Domain
import Workers

extension WebhookSchedule {
    /// An event that could not be sent for a reason of this node is sent again after this time.
    private static let unsentWait = Duration.seconds(1)

    /// What an answer meant for its event, for metrics and the log.
    package enum Outcome: Sendable, Equatable {
        /// - Parameter afterMs: the time since the event happened.
        case delivered(afterMs: Int64)
        /// The endpoint is disabled, and the event stays undelivered.
        case gone
        case retried(reason: String)
        case parked(reason: String)
        case unsent
        /// No request of this event is under way: it was answered before.
        case unknown
    }

    /// Reports the answer to a request, or that there was none.
    ///
    /// - Parameter random: from 0 to 1, for the jitter of a retry.
    package mutating func answered(
        _ position: Position, _ verdict: WebhookVerdict, random: Double, now: Now
    ) -> Outcome {
        guard let item = queue[position], item.message != nil, queue.isInFlight(position) else { return .unknown }
        return conclude(item, verdict, random: random, now: now)
    }

    private mutating func conclude(_ item: Item, _ verdict: WebhookVerdict, random: Double, now: Now) -> Outcome {
        let tryCount = queue.tryCount(of: item.key) + 1
        switch verdict {
        case .delivered(let status):
            queue.pace.accepted(now: now.instant)
            drop(item.key)
            queue.answered(
                item.key,
                .delivered(.init(position: item.key, event: item.event, status: status, tryCount: tryCount)))
            endOutage(now: now)
            return .delivered(afterMs: now.ms - item.atMs)
        case .gone:
            drop(item.key)
            queue.answered(item.key, .gone, .putBack())
            stop()
            return .gone
        case .failed(let status, let reason, let slows, let asked):
            if slows { queue.pace.failed(asked: asked, now: now.instant) }
            hasOutage = hasOutage || slows
            drop(item.key)
            dropLoaded(of: slows ? nil : item.line)
            let text = status.map { "status \($0)" } ?? reason.rawValue
            if hasEndedEarlyTry(item, now: now) { return .retried(reason: text) }
            guard let wait = retries.wait(afterTry: tryCount, asked: asked, random: random) else {
                let parked = item.delivery(tryCount: tryCount, status: status, reason: reason.rawValue)
                queue.answered(item.key, .open(.init(parked, .parked)))
                return .parked(reason: text)
            }
            let failed = item.delivery(
                tryCount: tryCount, nextMs: now.ms + Int64(wait / .milliseconds(1)), status: status,
                reason: reason.rawValue)
            if slows { queue[item.key]?.retryAt = now.instant + wait }
            queue.answered(item.key, .open(.init(failed, .failed)), .retry(at: now.instant + wait))
            return .retried(reason: text)
        case .unsent:
            queue.answered(item.key, nil, .putBack(at: now.instant + Self.unsentWait))
            return .unsent
        }
    }

    /// The endpoint works again. What failed in its outage is tried now, as fast as the pace allows: the planned times may
    /// be hours ahead. This early try does not count, and at most one comes before each planned try. So an event that
    /// alone makes the endpoint time out keeps its plan.
    private mutating func endOutage(now: Now) {
        guard hasOutage, queue.pace.pause(now: now.instant) == nil else { return }
        hasOutage = false
        for position in queue.hasten(where: { $0.retryAt != nil }) { queue[position]?.isEarly = true }
    }

    /// Reports that a try failed. Returns whether it was an early one: the event keeps its planned time.
    private mutating func hasEndedEarlyTry(_ item: Item, now: Now) -> Bool {
        queue[item.key]?.retryAt = nil
        queue[item.key]?.isEarly = false
        guard item.isEarly, let retryAt = item.retryAt, retryAt > now.instant else { return false }
        queue.answered(item.key, nil, .putBack(at: retryAt))
        return true
    }

    /// Drops what was read ahead, of one thread or of all of them: it may be deleted until the failed event is retried.
    private mutating func dropLoaded(of line: Item.Line?) {
        for position in loadedAhead where !queue.isInFlight(position) {
            if line == nil || queue[position]?.line == line { drop(position) }
        }
    }

    /// Drops an event's content.
    mutating func drop(_ position: Position) {
        loadedAhead.remove(position)
        byteCount -= queue[position]?.message?.body.count ?? 0
        queue[position]?.message = nil
    }
}
