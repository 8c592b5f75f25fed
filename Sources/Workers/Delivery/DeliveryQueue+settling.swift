// Recording outcomes, the next step, and the end.

/// Outcomes to record with one call.
package struct DeliverySettlement<Item: Deliverable>: Sendable {
    package let number: Int
    /// Whether the node stops, so that there is no other try.
    let isLast: Bool
    /// The last outcome of each item.
    package let outcomes: [Item.Key: Item.Outcome]
}

extension DeliveryQueue {
    /// Outcomes that wait to be recorded.
    package var outcomeCount: Int { outcomes.count }

    /// Adds an outcome of an item that is not under way, in place of an earlier one.
    package mutating func keep(_ key: Key, _ outcome: Outcome) { outcomes[key] = outcome }

    /// Whether an answer may need a step at once. Otherwise the next wake-up is soon enough.
    package var needsStep: Bool { inFlightCount == 0 || outcomes.count >= limits.settleCountMin }

    /// Whether the outcomes have waited long enough for others.
    package func isSettleDue(now: Instant) -> Bool {
        mayStartSettlement && !outcomes.isEmpty
            && (outcomes.count >= limits.settleCountMin || now - settledAt >= limits.settleWaitMax)
    }

    /// Whether outcomes may be recorded although others may follow soon: nothing is under way.
    package var maySettleRest: Bool { mayStartSettlement && !outcomes.isEmpty && inFlightCount == 0 }

    private var mayStartSettlement: Bool { settling.count < limits.settlementCountMax }

    /// Removes and returns outcomes to record, perhaps none; nil while as many calls are under way as allowed.
    package mutating func takeSettlement() -> DeliverySettlement<Item>? {
        guard mayStartSettlement else { return nil }
        var batch = outcomes
        if batch.count > limits.settleCountMax {
            batch = [Key: Outcome](uniqueKeysWithValues: outcomes.prefix(limits.settleCountMax).map { ($0, $1) })
            for key in batch.keys { outcomes[key] = nil }
        } else {
            outcomes = [:]
        }
        settlementCount += 1
        settling[settlementCount] = batch
        return DeliverySettlement(number: settlementCount, isLast: isClosing, outcomes: batch)
    }

    /// Reports that a settlement was recorded, or never can be, because the claims are lost. There may be more to claim.
    package mutating func settled(_ settlement: DeliverySettlement<Item>, now: Instant) {
        guard settling.removeValue(forKey: settlement.number) != nil else { return }
        settledAt = now
        isDue = true
    }

    /// Reports that a settlement could not be recorded. It becomes part of the next one; later outcomes of the same items
    /// replace its own. If it began while the node stops, it is given up, and the claims end by themselves: a cursor that
    /// is recorded later would pass its items.
    package mutating func settlementFailed(_ settlement: DeliverySettlement<Item>) {
        guard let batch = settling.removeValue(forKey: settlement.number) else { return }
        if settlement.isLast { hasGivenUp = true } else { outcomes.merge(batch) { later, _ in later } }
    }
}

extension DeliveryQueue: DeliverySchedule {
    /// Whether nothing is under way or waits to be recorded.
    package var isIdle: Bool { inFlightCount == 0 && settling.isEmpty && outcomes.isEmpty }

    package mutating func sends(now: DeliveryTime) -> [Item] { sends(now: now.instant) }

    /// Returns what to do next. A claim is a number of items.
    package mutating func step(now: DeliveryTime) -> DeliveryStep<Int, DeliverySettlement<Item>> {
        if isSettleDue(now: now.instant), let settlement = takeSettlement() { return .settle(settlement) }
        let count = takeClaim(now: now.instant)
        if count > 0 { return .claim(count) }
        if maySettleRest, let settlement = takeSettlement() { return .settle(settlement) }
        return isClosing && isIdle && self.count == 0 ? .end : .wait
    }

    /// Reports a claim that failed: the items are still due.
    package mutating func claimFailed() { isDue = true }

    /// Claims nothing more. Items that were claimed are still sent: their sender refuses them, and so they are due for
    /// another node at once.
    package mutating func close() { isClosing = true }
}
