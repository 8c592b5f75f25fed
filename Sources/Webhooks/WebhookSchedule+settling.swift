// Recording outcomes in batches, and the cursor with them.
import Domain

/// Outcomes to record, and the cursor that goes with them.
package struct WebhookSettlement: Sendable {
    /// Every event up to here is delivered or parked, or has a row after this settlement.
    package let cursor: Cursor
    let batch: OutcomeBatch

    package var outcomes: WebhookOutcomes { batch.outcomes }
}

extension WebhookSchedule {
    /// Reports the end of a settlement.
    ///
    /// - Parameter isOurs: whether this claim still has the endpoint; otherwise nothing was recorded.
    package mutating func settled(isOurs: Bool, now: Now) {
        guard let settlement = settling else { return }
        settling = nil
        settledAt = now.instant
        settledCursor = settlement.cursor
        if !isOurs { claimEnded() }
    }

    /// Reports that a settlement could not be recorded. It becomes part of the next one.
    package mutating func settlementFailed() {
        guard let settlement = settling else { return }
        settling = nil
        outcomes.restore(settlement.batch)
    }

    /// Returns what is left to record when nothing is under way any more; nil if nothing can be recorded.
    package mutating func lastSettlement() -> WebhookSettlement? { phase == .over ? nil : takeSettlement() }

    /// Whether outcomes, or the cursor alone, have waited long enough.
    func isSettleDue(_ now: Now) -> Bool {
        let wait = now.instant - settledAt
        if outcomes.isEmpty { return wait >= limits.cursorWaitMax && isIdle && readTo != settledCursor }
        return outcomes.count >= limits.settleCountMin || wait >= limits.settleWaitMax
    }

    /// Takes all outcomes, the events that wait behind failed ones, and the cursor.
    mutating func takeSettlement() -> WebhookSettlement? {
        guard settling == nil, let readTo else { return nil }
        for waiting in queue.takeWaiting(limit: limits.waitingCountMax) {
            guard let item = items[waiting.position] else { continue }
            let delivery = OpenDelivery(
                position: waiting.position, event: item.event, thread: item.thread, atMs: item.atMs)
            outcomes.keep(.init(delivery, .waiting))
            drop(waiting.position)
        }
        // The cursor may pass them, because they are recorded with it.
        queue.stored(outcomes.openPositions)
        let cursor = Cursor(epoch: readTo.epoch, position: queue.cursor(readTo: readTo.position))
        let settlement = WebhookSettlement(cursor: cursor, batch: outcomes)
        outcomes = OutcomeBatch()
        settling = settlement
        return settlement
    }
}
