// The pool's decisions: which connection, who waits, who fails, when to connect. No I/O and no clock: `ClientLoop`
// acts, and tests call it directly. Failures of connections are in `PoolState+Failures`.
import Basics
import DequeModule

typealias RequestID = UInt64
typealias ConnectionID = UInt64

/// Statements (`Work`) that wait or are in flight, and their connections. Each accepted work leaves exactly once: by
/// `finished`, `cancel`, `lost`, or a `.fail` action.
struct PoolState<Work> {
    struct Limits: Sendable {
        var connectionCountMax = 4
        var inFlightPerConnectionMax = 64
        var waitingCountMax = 10_000
        var waitMax: Duration = .seconds(5)
        /// A connection with statements in flight that receives nothing for this long is dropped; nil: never.
        var stallMax: Duration? = .seconds(20)
        /// A connection that receives nothing for this long under a statement is avoided while another has room, so
        /// that one slow statement delays few others.
        var slowAfter: Duration = .milliseconds(20)
        var sendCountMax = 3
    }

    enum Action {
        /// Start to connect; report `connected` or `connectFailed`.
        case connect(ConnectionID)
        case send(RequestID, Work, on: ConnectionID)
        case fail(Work, PostgresError)
        /// Close it; no result is expected from it any more.
        case close(ConnectionID)
        /// Close all remaining connections and end the thread.
        case stop
    }

    enum Phase: Equatable {
        case open
        /// Accepts no new statements; those in flight may end until `endsAt`.
        case draining
        case closed
    }

    struct Entry {
        /// It is nil once the caller was cancelled: the result is dropped when it arrives.
        var work: Work?
        let deadline: Instant
        var isWaiting: Bool
        var sendCount: Int
    }

    struct Member {
        let id: ConnectionID
        var isReady = false
        /// Its socket is full.
        var isBlocked = false
        /// Accepts no new statements, and closes when those in flight are done.
        var isLeaving = false
        var inFlight = Deque<RequestID>()
        /// When bytes last arrived while something was in flight.
        var progressAt: Instant
        var hasFinishedAny = false
    }

    let limits: Limits
    var phase = Phase.open
    /// When the pool closes, whatever is in flight then; nil while no end was set.
    var endsAt: Instant?
    var entries: [RequestID: Entry] = [:]
    /// In order of arrival and, except for those in `hurried`, of their deadlines. Ids of cancelled statements stay
    /// until they are reached or swept.
    var waiting = Deque<RequestID>()
    /// Statements of `waiting` with an earlier deadline than the pool's, in the order of their deadlines. A few:
    /// batches.
    var hurried: [RequestID] = []
    var waitingCount = 0
    var members: [Member] = []
    var backoff = Backoff()
    var connectNotBefore: Instant?
    /// Why the last attempt to connect failed, until one succeeds.
    var failure: ConnectFailure?
    var totals = PoolStatistics.Totals()
    private var connectionCount: ConnectionID = 0
    private var wantsConnection = false

    init(limits: Limits) { self.limits = limits }

    // MARK: Statements

    /// Accepts a statement, or returns why not.
    /// - Parameter deadline: until when it may wait, if that is before `waitMax` ends.
    mutating func submit(_ id: RequestID, _ work: Work, by deadline: Instant? = nil, now: Instant) -> PostgresError? {
        guard phase == .open else { return .closed }
        if let failure, failure.isRefusal, readyCount == 0, let connectNotBefore, now < connectNotBefore {
            return .unavailable(failure.reason)
        }
        guard waitingCount < limits.waitingCountMax else {
            totals.poolFullCount += 1
            return .poolFull
        }
        totals.statementCount += 1
        let last = now + limits.waitMax
        entries[id] = Entry(work: work, deadline: min(deadline ?? last, last), isWaiting: true, sendCount: 0)
        waiting.append(id)
        waitingCount += 1
        if let deadline, deadline < last {
            let place = hurried.firstIndex { entries[$0].map { $0.deadline > deadline } ?? false }
            hurried.insert(id, at: place ?? hurried.endIndex)
        }
        return nil
    }

    /// Returns the work if its caller still waits for it. A statement in flight runs to its end.
    mutating func cancel(_ id: RequestID) -> Work? {
        guard let entry = entries[id] else { return nil }
        if entry.isWaiting {
            entries[id] = nil
            waitingCount -= 1
            if waiting.count > 2 * waitingCount + 64 { sweep() }
        } else {
            entries[id]?.work = nil
        }
        return entry.work
    }

    /// The oldest statement of the connection is finished. Nil when its caller was cancelled.
    mutating func finished(_ connection: ConnectionID, now: Instant) -> Work? {
        guard let index = index(of: connection), let id = members[index].inFlight.popFirst() else { return nil }
        members[index].progressAt = now
        members[index].hasFinishedAny = true
        backoff.reset()
        return entries.removeValue(forKey: id)?.work
    }

    /// The oldest statement of the connection did not run and may be retried. Returns whether it will be; if not, the
    /// caller reports it as `finished`.
    mutating func retry(_ connection: ConnectionID, now: Instant) -> Bool {
        guard phase == .open, let index = index(of: connection), let id = members[index].inFlight.first,
            let entry = entries[id], entry.work != nil, entry.sendCount < limits.sendCountMax
        else { return false }
        _ = members[index].inFlight.popFirst()
        members[index].progressAt = now
        waitAgain(id)
        return true
    }

    /// Returns a statement from a connection to the head of the queue.
    mutating func waitAgain(_ id: RequestID) {
        entries[id]?.isWaiting = true
        waiting.prepend(id)
        waitingCount += 1
    }

    // MARK: Time

    /// Makes all decisions that are due. Call it after any other method, and at `nextDeadline`.
    mutating func step(now: Instant, _ actions: inout [Action]) {
        guard phase != .closed else { return }
        closeStalled(now: now, &actions)
        closeLeaving(&actions)
        if phase == .draining || isOver(now) {
            drain(now: now, &actions)
            return
        }
        // In this order: a statement for which there is room is sent, even when its time is just over.
        assign(now: now, &actions)
        failWaiting(now: now, &actions)
        openIfWanted(now: now, &actions)
    }

    /// When to call `step` again if nothing else happens.
    func nextDeadline() -> Instant? {
        var earliest: Instant?
        func consider(_ instant: Instant?) {
            guard let instant else { return }
            earliest = earliest.map { min($0, instant) } ?? instant
        }
        consider(endsAt)
        if waitingCount > 0 {
            for id in [waiting.first, hurried.first] { consider(id.flatMap { entries[$0]?.deadline }) }
            if members.count < limits.connectionCountMax, !isConnecting { consider(connectNotBefore) }
        }
        if let stallMax = limits.stallMax {
            for member in members where !member.inFlight.isEmpty { consider(member.progressAt + stallMax) }
        }
        return earliest
    }

    private mutating func assign(now: Instant, _ actions: inout [Action]) {
        while let id = waiting.first {
            guard let entry = entries[id], entry.isWaiting, let work = entry.work else {
                _ = waiting.popFirst()
                continue
            }
            guard let index = bestConnection(now: now) else {
                wantsConnection = true
                return
            }
            _ = waiting.popFirst()
            waitingCount -= 1
            if members[index].inFlight.isEmpty { members[index].progressAt = now } else { wantsConnection = true }
            members[index].inFlight.append(id)
            entries[id]?.isWaiting = false
            entries[id]?.sendCount += 1
            actions.append(.send(id, work, on: members[index].id))
        }
    }

    /// The connection with the fewest statements in flight; a slow one only when no other has room.
    private func bestConnection(now: Instant) -> Int? {
        var best: (index: Int, load: Int)?
        for (index, member) in members.enumerated() where member.isReady && !member.isBlocked && !member.isLeaving {
            let count = member.inFlight.count
            guard count < limits.inFlightPerConnectionMax else { continue }
            let isSlow = count > 0 && now - member.progressAt > limits.slowAfter
            let load = isSlow ? count + limits.inFlightPerConnectionMax : count
            if load < best?.load ?? .max { best = (index, load) }
        }
        return best?.index
    }

    /// One attempt at a time, so that a database that restarts does not get all connections at once.
    private mutating func openIfWanted(now: Instant, _ actions: inout [Action]) {
        defer { wantsConnection = false }
        guard wantsConnection, members.count < limits.connectionCountMax, !isConnecting else { return }
        if let connectNotBefore, now < connectNotBefore { return }
        connectionCount += 1
        members.append(Member(id: connectionCount, progressAt: now))
        actions.append(.connect(connectionCount))
    }

    private mutating func sweep() {
        waiting.removeAll { id in entries[id]?.isWaiting != true }
    }

    // MARK: Looking

    var readyCount: Int { members.count { $0.isReady } }
    var isConnecting: Bool { members.contains { !$0.isReady } }
    var inFlightCount: Int { members.reduce(0) { $0 + $1.inFlight.count } }

    func index(of connection: ConnectionID) -> Int? { members.firstIndex { $0.id == connection } }

    var statistics: PoolStatistics {
        PoolStatistics(
            connectionCount: readyCount, connectingCount: members.count - readyCount, inFlightCount: inFlightCount,
            waitingCount: waitingCount, totals: totals)
    }
}

extension PoolState: Sendable where Work: Sendable {}
extension PoolState.Entry: Sendable where Work: Sendable {}
extension PoolState.Member: Sendable where Work: Sendable {}
extension PoolState.Action: Sendable where Work: Sendable {}
