// The outcomes that wait to be recorded.
import Domain

/// The outcomes of deliveries that are not recorded yet: at most one for each event, the last.
package struct OutcomeBatch: Sendable {
    private var delivered: [Position: WebhookOutcomes.Delivered] = [:]
    private var open: [Position: WebhookOutcomes.Open] = [:]
    private var removed: Set<Position> = []
    package var isGone = false

    package init() {}

    package var count: Int { delivered.count + open.count + removed.count + (isGone ? 1 : 0) }
    package var isEmpty: Bool { count == 0 }

    package mutating func deliver(_ delivery: OpenDelivery, status: Int) {
        open[delivery.position] = nil
        delivered[delivery.position] = .init(
            position: delivery.position, event: delivery.event, status: status, tryCount: delivery.tryCount)
    }

    package mutating func keep(_ outcome: WebhookOutcomes.Open) { open[outcome.delivery.position] = outcome }

    package mutating func remove(_ position: Position) {
        open[position] = nil
        removed.insert(position)
    }

    /// Puts back a batch that could not be recorded. Later outcomes of the same events replace those of the batch.
    package mutating func restore(_ earlier: OutcomeBatch) {
        delivered.merge(earlier.delivered) { later, _ in later }
        removed.formUnion(earlier.removed)
        for (position, outcome) in earlier.open
        where open[position] == nil && delivered[position] == nil && !removed.contains(position) {
            open[position] = outcome
        }
        isGone = isGone || earlier.isGone
    }

    package var outcomes: WebhookOutcomes {
        var outcomes = WebhookOutcomes()
        outcomes.delivered = delivered.values.sorted { $0.position < $1.position }
        outcomes.open = open.values.sorted { $0.delivery.position < $1.delivery.position }
        outcomes.removed = removed.sorted()
        outcomes.isGone = isGone
        return outcomes
    }

    /// The events that get a row, or have one.
    package var openPositions: [Position] { Array(open.keys) }
}
