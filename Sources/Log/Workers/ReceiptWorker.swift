// Receipts of threads where many read: told to the others together, a moment after they were written.
import Domain
import Logging
import Store
import Synchronization

/// Threads whose members are to hear of marks that were written here, and when that is due. Bounded by what is written in
/// a second: a thread is in here once.
package final class UntoldReceipts: Sendable {
    /// From a mark to its telling, which the database holds to, however many nodes write marks of a thread.
    static let delay = Duration.seconds(1)

    private let dueTimes = Mutex<[ThreadID: ContinuousClock.Instant]>([:])

    func note(_ outcomes: [Store.Moved], of batch: [ReceiptMove]) {
        var threads: [ThreadID] = []
        for (move, outcome) in zip(batch, outcomes) {
            if case .done(isUnpublished: true) = outcome { threads.append(move.thread) }
        }
        if !threads.isEmpty { note(threads, due: .now + Self.delay) }
    }

    func note(_ threads: [ThreadID], due: ContinuousClock.Instant) {
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

/// Has the database tell of what is due.
package struct ReceiptWorker: Sendable {
    /// Between looks for what a node left untold that is gone.
    private static let checkInterval = Duration.seconds(10)
    /// Of one call: of each thread up to a hundred marks.
    private static let threadCountMax = 20

    private let untold: UntoldReceipts
    private let store: Store
    private let logger: Logger

    package init(untold: UntoldReceipts, store: Store, logger: Logger) {
        self.untold = untold
        self.store = store
        self.logger = logger
    }

    /// Runs until cancelled. What is untold then some node tells, this one after its next start if there is no other.
    package func run() async throws {
        var nextCheck = ContinuousClock.now
        while true {
            try await Ticker.sleep()
            var due = untold.takeDue(at: .now)[...]
            while !due.isEmpty {
                try await tell(Array(due.prefix(Self.threadCountMax)))
                due = due.dropFirst(Self.threadCountMax)
            }
            if ContinuousClock.now >= nextCheck {
                nextCheck = .now + Self.checkInterval
                try await tell(nil)
            }
        }
    }

    /// What can't be done now is due later: it is written down, so nothing is lost.
    private func tell(_ threads: [ThreadID]?) async throws {
        do {
            let rest = try await store.publishReceipts(in: threads)
            untold.note(rest, due: .now + Ticker.interval)
        } catch let problem as Problem {
            logger.warning("receipts have to wait", metadata: ["reason": "\(problem.detail)"])
            untold.note(threads ?? [], due: .now + .seconds(1))
        }
    }
}
