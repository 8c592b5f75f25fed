// Receipts of large threads that were written here and are still to be published.
import Domain
import Store
import Synchronization

/// The threads whose members are still to be notified of receipts that this node wrote, and when each is due. Bounded
/// by what is written in a second, since a thread is in here once.
package final class UnpublishedReceipts: Sendable {
    /// From writing a receipt to publishing it. The database keeps to it, however many nodes write receipts of a
    /// thread.
    static let delay = Duration.seconds(1)

    private let dueTimes = Mutex<[ThreadID: ContinuousClock.Instant]>([:])

    /// Adds the threads of a batch in which the database left the publishing to this node.
    func add(_ outcomes: [Store.Moved], of batch: [ReceiptMove]) {
        var threads: [ThreadID] = []
        for (move, outcome) in zip(batch, outcomes) {
            if case .done(isUnpublished: true) = outcome { threads.append(move.thread) }
        }
        if !threads.isEmpty { add(threads, due: .now + Self.delay) }
    }

    func add(_ threads: [ThreadID], due: ContinuousClock.Instant) {
        dueTimes.withLock { times in
            for thread in threads { times[thread] = min(times[thread] ?? due, due) }
        }
    }

    func takeDue(at now: ContinuousClock.Instant) -> [ThreadID] {
        dueTimes.withLock { times in
            if times.isEmpty { return [] }
            let due = times.filter { $0.value <= now }.map(\.key)
            for thread in due { times[thread] = nil }
            return due
        }
    }
}
