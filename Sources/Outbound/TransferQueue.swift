// Which transfer begins when, which has waited too long, when it is time to end: the decisions, without libcurl.

/// A bounded number of transfers under way, a bounded line before them, first come first served.
struct TransferQueue<Job: Sendable>: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// One that is to begin now, and by when it has to be through.
    struct Start: Sendable {
        let job: Job
        let deadline: Instant
    }

    typealias Failure = (job: Job, failure: TransferFailure)

    struct Step {
        var starts: [Start] = []
        var failures: [Failure] = []
        /// What is still under way is given up, and the thread ends.
        var isLast = false
    }

    let inFlightMax: Int
    let waitingCountMax: Int
    private var waiting: [Start] = []
    private(set) var inFlightCount = 0
    /// Set once: nothing more is taken, and what is under way has until then.
    private var closingAt: Instant?

    init(inFlightMax: Int, waitingCountMax: Int) {
        self.inFlightMax = inFlightMax
        self.waitingCountMax = waitingCountMax
    }

    /// Nil when it was taken in.
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

    /// One that was begun has ended.
    mutating func finished() { inFlightCount -= 1 }

    /// Takes nothing more. What waits fails; what is under way may end, until `deadline`.
    mutating func close(deadline: Instant) { closingAt = min(deadline, closingAt ?? deadline) }

    /// When there is something to do, whatever else happens.
    var nextDeadline: Instant? { closingAt ?? waiting.map(\.deadline).min() }
}
