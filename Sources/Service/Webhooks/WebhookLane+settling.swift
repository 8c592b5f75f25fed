// Recording what became of deliveries, in batches.
import Domain
import Store
import Webhooks

/// The outcomes that are not recorded yet: at most one for each event, the last.
struct OutcomeBatch: Sendable {
    private var delivered: [Position: WebhookOutcomes.Delivered] = [:]
    private var open: [Position: WebhookOutcomes.Open] = [:]
    private var removed: Set<Position> = []
    var isGone = false

    var count: Int { delivered.count + open.count + removed.count + (isGone ? 1 : 0) }
    var isEmpty: Bool { count == 0 }

    mutating func deliver(_ delivery: OpenDelivery, status: Int) {
        open[delivery.position] = nil
        delivered[delivery.position] = .init(
            position: delivery.position, event: delivery.event, status: status, tryCount: delivery.tryCount)
    }

    mutating func keep(_ outcome: WebhookOutcomes.Open) { open[outcome.delivery.position] = outcome }

    mutating func remove(_ position: Position) {
        open[position] = nil
        removed.insert(position)
    }

    /// Puts back what could not be recorded. What happened since counts.
    mutating func restore(_ earlier: OutcomeBatch) {
        delivered.merge(earlier.delivered) { later, _ in later }
        removed.formUnion(earlier.removed)
        for (position, outcome) in earlier.open
        where open[position] == nil && delivered[position] == nil && !removed.contains(position) {
            open[position] = outcome
        }
        isGone = isGone || earlier.isGone
    }

    var outcomes: WebhookOutcomes {
        var outcomes = WebhookOutcomes()
        outcomes.delivered = delivered.values.sorted { $0.position < $1.position }
        outcomes.open = open.values.sorted { $0.delivery.position < $1.delivery.position }
        outcomes.removed = removed.sorted()
        outcomes.isGone = isGone
        return outcomes
    }

    /// The events that get a row, or have one.
    var openPositions: [Position] { Array(open.keys) }
}

extension WebhookLane {
    /// Rows of waiting events of one call.
    private static let waitingCountMax = 1_000

    /// Records all outcomes, the events that wait behind failed ones, and the cursor.
    func settle() async throws {
        let taken = state.withLock { state -> (batch: OutcomeBatch, cursor: Cursor)? in
            guard let readTo = state.readTo else { return nil }
            for waiting in state.queue.takeWaiting(limit: Self.waitingCountMax) {
                guard let item = state.items[waiting.position] else { continue }
                state.outcomes.keep(
                    .init(
                        OpenDelivery(
                            position: waiting.position, event: item.event, thread: item.thread, atMs: item.atMs),
                        .waiting))
                state.drop(waiting.position)
            }
            let batch = state.outcomes
            state.outcomes = OutcomeBatch()
            // The cursor may pass them, because they are recorded with it.
            state.queue.stored(batch.openPositions)
            let position = state.queue.cursor(readTo: readTo.position)
            return (batch, Cursor(epoch: readTo.epoch, position: position))
        }
        guard let (batch, cursor) = taken else { return }
        do {
            let isOurs = try await store.settleWebhook(id, turn: turn, cursor: cursor, batch.outcomes)
            state.withLock { state in
                state.settledAt = .now
                state.settledCursor = cursor
                if !isOurs { state.phase = .over }
            }
        } catch {
            // What is not recorded is delivered again.
            state.withLock { $0.outcomes.restore(batch) }
            throw error
        }
    }
}
