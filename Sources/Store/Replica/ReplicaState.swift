// The decisions about reads on a replica: when to ask the primary for a bound and the replica for what it has replayed, and
// which server answers a read. No I/O and no clock: `Replica` acts, and tests call it directly.
import Basics

/// Reads that wait for their place. All reads that arrive while the primary is asked share the next question, and all
/// reads that wait for the replay share one question to the replica. So the number of questions does not grow with the
/// number of reads.
struct ReplicaState {
    typealias Instant = ContinuousClock.Instant
    typealias ReadID = UInt64

    /// A read waits this long for the replay. Then the primary answers.
    static let waitMax = Duration.milliseconds(200)
    /// Between two questions to a replica that lags.
    static let interval = Duration.milliseconds(2)

    enum Place: Sendable, Equatable {
        /// If the replica has this when the read begins there.
        case replica(ReplicaBound)
        case primary(PrimaryReason)
    }

    enum Action {
        /// Ask the primary for a bound; report it to `primaryAnswered`.
        case askPrimary
        /// Ask the replica about a bound; report to `replicaAnswered`.
        case askReplica(ReplicaBound)
        case settle(ReadID, Place)
        /// The primary could not be asked, so the read fails.
        case fail(ReadID, any Error)
        /// Reads use the replica from now on; or not, for this reason.
        case changed(PrimaryReason?)
    }

    private enum Mode {
        case following
        /// The primary answers all reads. A probe, which no read waits for, begins at this time.
        case paused(PrimaryReason, until: Instant)
    }

    private struct Waiting {
        let id: ReadID
        let bound: ReplicaBound
        let deadline: Instant
    }

    /// The probe takes the way of a read.
    private static let probe: ReadID = 0
    private var mode: Mode
    private var isProbing = false
    private var isClosed = false
    private var backoff = Backoff()
    private var lastID = ReplicaState.probe
    /// Reads that the question to the primary must come after.
    private var arrived: [ReadID] = []
    /// Reads of the question under way; nil when there is none.
    private var asked: [ReadID]?
    /// Reads that have a bound, in the order of their bounds.
    private var waiting: [Waiting] = []
    private var isAskingReplica = false
    private var askAgainAt: Instant?
    /// Where the replay was at the last answer. Each read checks again, so a server with less behind the same address
    /// does no harm.
    private var replayed: Int64 = 0
    private var answeredAt: Instant?

    /// Begins with a probe.
    init(now: Instant) { mode = .paused(.away, until: now) }

    // MARK: Reads

    /// A read arrived. Its id is in the action that settles it, perhaps one of these.
    mutating func arrive(_ actions: inout [Action]) -> ReadID {
        lastID += 1
        if case .paused(let reason, _) = mode {
            actions.append(.settle(lastID, .primary(reason)))
        } else {
            arrived.append(lastID)
            askPrimary(&actions)
        }
        return lastID
    }

    /// The check of a read failed, or the read itself.
    mutating func failed(_ reason: PrimaryReason, now: Instant, random: Double, _ actions: inout [Action]) {
        guard reason.pausesReads, case .following = mode else { return }
        pause(reason, now: now, random: random, &actions)
    }

    private mutating func askPrimary(_ actions: inout [Action]) {
        guard asked == nil, !arrived.isEmpty else { return }
        asked = arrived
        arrived = []
        actions.append(.askPrimary)
    }

    // MARK: Answers

    mutating func primaryAnswered(
        _ result: Result<ReplicaBound, any Error>, now: Instant, random: Double, _ actions: inout [Action]
    ) {
        for id in asked ?? [] {
            switch (result, mode) {
            case (.failure, _) where id == Self.probe: endProbe(now: now, random: random)
            case (.failure(let error), _): actions.append(.fail(id, error))
            case (.success(let bound), _) where !bound.isOfThisRun:
                if id == Self.probe {
                    endProbe(now: now, random: random)
                } else {
                    actions.append(.settle(id, .primary(.restarted)))
                }
            case (.success, .paused(let reason, _)) where id != Self.probe || isClosed:
                if id != Self.probe { actions.append(.settle(id, .primary(reason))) }
            case (.success(let bound), .following) where bound.lsn <= replayed:
                actions.append(.settle(id, .replica(bound)))
            case (.success(let bound), _):
                waiting.append(Waiting(id: id, bound: bound, deadline: now + Self.waitMax))
            }
        }
        asked = nil
        askPrimary(&actions)
        askReplica(now: now, &actions)
    }

    private mutating func askReplica(now: Instant, _ actions: inout [Action]) {
        guard !isAskingReplica, let first = waiting.first, askAgainAt.map({ now >= $0 }) ?? true else { return }
        isAskingReplica = true
        // About the oldest bound: about the newest, it would lag at each answer under load.
        actions.append(.askReplica(first.bound))
    }

    mutating func replicaAnswered(
        _ result: Result<ReplicaReport, any Error>, now: Instant, random: Double, _ actions: inout [Action]
    ) {
        isAskingReplica = false
        // Otherwise the answer is too late, and the reads have gone to the primary.
        guard !waiting.isEmpty else { return }
        guard case .success(let report) = result else {
            pause(.away, now: now, random: random, &actions)
            return
        }
        guard !report.isOfAnotherHistory else {
            pause(.notAReplica, now: now, random: random, &actions)
            return
        }
        replayed = report.replayed
        answeredAt = now
        let ready = waiting.prefix { $0.bound.lsn <= replayed }
        waiting.removeFirst(ready.count)
        for read in ready { settle(read, &actions) }
        // About those that came after the question, at once.
        askAgainAt = ready.isEmpty ? now + Self.interval : nil
        askReplica(now: now, &actions)
    }

    private mutating func settle(_ read: Waiting, _ actions: inout [Action]) {
        guard read.id == Self.probe else {
            actions.append(.settle(read.id, .replica(read.bound)))
            return
        }
        isProbing = false
        backoff.reset()
        guard !isClosed else { return }
        mode = .following
        actions.append(.changed(nil))
    }

    // MARK: Time

    /// Makes the decisions that are due. Call it at `nextDeadline`.
    mutating func tick(now: Instant, random: Double, _ actions: inout [Action]) {
        if let first = waiting.first, now >= first.deadline {
            let hasAnswered = answeredAt.map { $0 > first.deadline - Self.waitMax } ?? false
            pause(hasAnswered ? .lagging : .away, now: now, random: random, &actions)
        }
        askReplica(now: now, &actions)
        if case .paused(_, let until) = mode, !isProbing, !isClosed, now >= until {
            isProbing = true
            arrived.append(Self.probe)
            askPrimary(&actions)
        }
    }

    /// When to call `tick`. There may be an earlier deadline only while there is none.
    func nextDeadline(now: Instant) -> Instant? {
        guard !isClosed else { return nil }
        // An answer of the replica may need another question after the interval.
        if let first = waiting.first { return min(first.deadline, now + Self.interval) }
        guard case .paused(_, let until) = mode, !isProbing else { return nil }
        return until
    }

    /// The primary answers all reads, from those that wait on, until a probe succeeds.
    private mutating func pause(
        _ reason: PrimaryReason, now: Instant, random: Double, _ actions: inout [Action]
    ) {
        mode = .paused(reason, until: now + backoff.next(random: random))
        for id in waiting.map(\.id) + arrived {
            if id == Self.probe { isProbing = false } else { actions.append(.settle(id, .primary(reason))) }
        }
        waiting = []
        arrived = []
        (replayed, askAgainAt) = (0, nil)
        actions.append(.changed(reason))
    }

    private mutating func endProbe(now: Instant, random: Double) {
        isProbing = false
        if case .paused(let reason, _) = mode { mode = .paused(reason, until: now + backoff.next(random: random)) }
    }

    /// Ends the use of the replica: the primary answers all reads that wait or are still to come.
    mutating func close(now: Instant, _ actions: inout [Action]) {
        isClosed = true
        pause(.away, now: now, random: 0, &actions)
        actions.removeAll { if case .changed = $0 { true } else { false } }
    }
}
