// Recording outcomes in batches, and the cursor with them.
import Domain
import Workers

/// What is to be recorded of an event.
enum WebhookOutcome: Sendable {
    case delivered(WebhookOutcomes.Delivered)
    /// It gets a row, or has one.
    case open(WebhookOutcomes.Open)
    /// The log no longer has it.
    case removed
    /// The endpoint is to be disabled. The event stays as it is.
    case gone
}

/// Outcomes to record, and the cursor that goes with them.
package struct WebhookSettlement: Sendable {
    /// Every event up to here is delivered or parked, or has a row after this settlement.
    package let cursor: Cursor
    let batch: DeliverySettlement<WebhookSchedule.Item>

    package var outcomes: WebhookOutcomes {
        var outcomes = WebhookOutcomes()
        for (position, outcome) in batch.outcomes.sorted(by: { $0.key < $1.key }) {
            switch outcome {
            case .delivered(let delivered): outcomes.delivered.append(delivered)
            case .open(let open): outcomes.open.append(open)
            case .removed: outcomes.removed.append(position)
            case .gone: outcomes.isGone = true
            }
        }
        return outcomes
    }
}

extension WebhookSchedule: DeliverySchedule {
    /// Nothing is claimed: the log is read when its head moves.
    package mutating func wake() {}
    package mutating func claimFailed() {}

    /// Reports the end of a settlement.
    ///
    /// - Parameter isOurs: whether this claim still has the endpoint; otherwise nothing was recorded.
    package mutating func settled(isOurs: Bool, now: Now) {
        guard let settlement = settling else { return }
        settling = nil
        queue.settled(settlement.batch, now: now.instant)
        settledCursor = settlement.cursor
        if !isOurs { claimEnded() }
    }

    /// Reports that a settlement could not be recorded. It becomes part of the next one, or is given up while the node stops.
    package mutating func settlementFailed(_ settlement: WebhookSettlement) {
        guard settling?.batch.number == settlement.batch.number else { return }
        settling = nil
        queue.settlementFailed(settlement.batch)
    }

    /// Returns what is left to record when nothing is under way any more; nil if nothing can be recorded.
    package mutating func lastSettlement() -> WebhookSettlement? { phase == .over ? nil : takeSettlement() }

    /// Whether outcomes, or the cursor alone, have waited long enough.
    func isSettleDue(_ now: Now) -> Bool {
        if queue.outcomeCount > 0 { return queue.isSettleDue(now: now.instant) }
        return now.instant - queue.settledAt >= limits.cursorWaitMax && isIdle && readTo != settledCursor
    }

    /// Takes all outcomes, the events that wait behind failed ones, and the cursor. Nil after a settlement that was given
    /// up: the next claim begins from the recorded cursor.
    mutating func takeSettlement() -> WebhookSettlement? {
        guard settling == nil, !queue.hasGivenUp, let readTo else { return nil }
        for item in queue.takeWaiting(limit: limits.waitingCountMax) {
            queue.keep(item.key, .open(.init(item.delivery(), .waiting)))
            drop(item.key)
        }
        guard let batch = queue.takeSettlement() else { return nil }
        // The cursor may pass them, because they are recorded with it.
        queue.stored(
            batch.outcomes.lazy.compactMap { position, outcome in if case .open = outcome { position } else { nil } })
        let last = queue.firstUnstored.map { Position($0.value - 1) } ?? readTo.position
        let settlement = WebhookSettlement(cursor: Cursor(epoch: readTo.epoch, position: last), batch: batch)
        settling = settlement
        return settlement
    }
}
