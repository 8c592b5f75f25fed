// The consequences of an endpoint's answers for its events.
import Domain

extension WebhookSchedule {
    /// An event that could not be sent for a reason of this node is sent again after this time.
    private static let unsentWaitMs: Int64 = 1_000

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

    package struct Answer: Sendable, Equatable {
        package var outcome: Outcome
        /// Whether there may be a step to perform now. Otherwise the next wake-up is soon enough.
        package var needsStep: Bool
    }

    /// Reports the answer to a request, or that there was none.
    ///
    /// - Parameter random: from 0 to 1, for the jitter of a retry.
    package mutating func answered(
        _ position: Position, _ verdict: WebhookVerdict, random: Double, now: Now
    ) -> Answer {
        guard let item = items[position], item.message != nil, queue.isInFlight(position) else {
            return Answer(outcome: .unknown, needsStep: true)
        }
        let outcome = conclude(position, item, verdict, random: random, now: now)
        return Answer(
            outcome: outcome, needsStep: isIdle || outcomes.count >= limits.settleCountMin || hasRoomToRead)
    }

    private mutating func conclude(
        _ position: Position, _ item: Item, _ verdict: WebhookVerdict, random: Double, now: Now
    ) -> Outcome {
        var delivery = OpenDelivery(
            position: position, event: item.event, thread: item.thread, atMs: item.atMs,
            tryCount: queue.tryCount(of: position) + 1)
        switch verdict {
        case .delivered(let status):
            pace.accepted(now: now.instant)
            finish(position)
            outcomes.deliver(delivery, status: status)
            return .delivered(afterMs: now.ms - item.atMs)
        case .gone:
            drop(position)
            queue.unsent(position, retryAtMs: now.ms)
            outcomes.isGone = true
            stop()
            return .gone
        case .failed(let status, let reason, let slows, let asked):
            if slows { pace.slow(asked: asked, now: now.instant) }
            let text = status.map { "status \($0)" } ?? reason.rawValue
            guard let wait = retries.wait(afterTry: delivery.tryCount, asked: asked, random: random) else {
                finish(position)
                outcomes.keep(.init(delivery, .parked, status: status, reason: reason.rawValue))
                return .parked(reason: text)
            }
            let dueMs = now.ms + Int64(wait / .milliseconds(1))
            delivery.nextMs = dueMs
            drop(position)
            queue.failed(position, retryAtMs: dueMs)
            outcomes.keep(.init(delivery, .failed, status: status, reason: reason.rawValue))
            return .retried(reason: text)
        case .unsent:
            queue.unsent(position, retryAtMs: now.ms + Self.unsentWaitMs)
            return .unsent
        }
    }

    /// Drops an event's content.
    mutating func drop(_ position: Position) {
        byteCount -= items[position]?.message?.body.count ?? 0
        items[position]?.message = nil
    }

    private mutating func finish(_ position: Position) {
        drop(position)
        items[position] = nil
        queue.done(position)
    }
}
