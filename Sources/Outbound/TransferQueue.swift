// When a transfer begins, when it has waited too long, when the client ends. Decisions only, without libcurl.

/// Bounds the transfers under way and the queue before them. First come, first served.
struct TransferQueue<Job: Sendable>: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// A transfer to begin now, and its deadline.
    struct Start: Sendable {
        let job: Job
        let deadline: Instant
    }

    typealias Failure = (job: Job, failure: TransferFailure)

    struct Step {
        var starts: [Start] = []
        var failures: [Failure] = []
        /// Whether what is still under way is cancelled and the thread ends.
        var isLast = false
    }

    let inFlightMax: Int
    let waitingCountMax: Int
    private var waiting: [Start] = []
    private(set) var inFlightCount = 0
    /// Set once the client is closing: no transfer is accepted, and those under way have until then.
    private var closingAt: Instant?

    init(inFlightMax: Int, waitingCountMax: Int) {
        self.inFlightMax = inFlightMax
        self.waitingCountMax = waitingCountMax
    }

    /// Adds a transfer. Returns nil if it was accepted.
    mutating func submit(_ start: Start) -> Failure? {
        if closingAt != nil { return (start.job, .closed) }
        guard waiting.count < waitingCountMax else { return (start.job, .overloaded) }
        waiting.append(start)
        return nil
    }

    mutating func step(now: Instant) -> Step {
        var turn = Step()
        if let closingAt {
            turn.failures = waiting.map { ($0.job, .closed) }
            waiting = []
            turn.isLast = inFlightCount == 0 || closingAt <= now
            return turn
        }
        turn.failures = waiting.filter { $0.deadline <= now }.map { ($0.job, .timedOut) }
        waiting.removeAll { $0.deadline <= now }
        turn.starts = Array(waiting.prefix(inFlightMax - inFlightCount))
        waiting.removeFirst(turn.starts.count)
        inFlightCount += turn.starts.count
        return turn
    }

    /// Records the end of a transfer.
    mutating func finished() { inFlightCount -= 1 }

    /// Accepts no more transfers. The waiting ones fail; those under way may end until `deadline`.
    mutating func close(deadline: Instant) { closingAt = min(deadline, closingAt ?? deadline) }

    /// When the next step is due at the latest.
    var nextDeadline: Instant? { closingAt ?? waiting.map(\.deadline).min() }
}
