// The pool's decisions: which connection, who waits, who fails, when to connect. No I/O and no clock of its own:
// `ClientLoop` acts, tests drive it by hand. What goes wrong with connections is in `PoolState+Failures`.
import Basics
import DequeModule

typealias RequestID = UInt64
typealias ConnectionID = UInt64

/// Statements (`Work`) waiting and in flight, and the connections they are on. Each accepted work leaves exactly
/// once: by `finished`, `cancel`, `lost`, or a `.fail` action.
struct PoolState<Work> {
    struct Limits: Sendable {
        var connectionCountMax = 4
        var inFlightPerConnectionMax = 64
        var waitingCountMax = 10_000
        var waitMax: Duration = .seconds(5)
        /// Without a sign of life for this long, a connection with statements in flight is given up; nil: never.
        var stallMax: Duration? = .seconds(20)
        /// A connection silent for this long under a statement is avoided while another has room, so that one slow
        /// statement holds up few others.
        var slowAfter: Duration = .milliseconds(20)
        var sendCountMax = 3
    }

    enum Action {
        /// Begin connecting; answer with `connected` or `connectFailed`.
        case connect(ConnectionID)
        case send(RequestID, Work, on: ConnectionID)
        case fail(Work, PostgresError)
        /// Close it; nothing of it is waited for any more.
        case close(ConnectionID)
        /// Close all that is left and end the thread.
        case stop
    }

    enum Phase: Equatable {
        case open
        /// No new statements; what is in flight may end until then.
        case draining(until: Instant)
        case closed
    }

    struct Entry {
        /// Nil once the caller was cancelled: the result is dropped on arrival.
        var work: Work?
        let deadline: Instant
        var isWaiting: Bool
        var sendCount: Int
    }

    struct Member {
        let id: ConnectionID
        var isReady = false
        /// Its socket takes no more for now.
        var isBlocked = false
        /// Takes no new statements; closed when what is in flight is through.
        var isLeaving = false
        var inFlight = Deque<RequestID>()
        /// The last sign of life while something was in flight.
        var progressAt: Instant
        var hasFinishedAny = false
    }

    let limits: Limits
    var phase = Phase.open
    var entries: [RequestID: Entry] = [:]
    /// In the order in which they came, and of their deadlines but for `hurried`. Ids of cancelled ones stay until they come
    /// up or are swept.
    var waiting = Deque<RequestID>()
    /// Those of `waiting` whose callers have less patience than the pool, in the order of their deadlines. A few: batches.
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

    /// Takes a statement in, or says why not.
    /// - deadline: until when it may wait, if that is sooner than `waitMax` has it.
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

    /// Gives the work back if its caller still waits for it. In flight, the statement itself runs to its end.
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

    /// The oldest statement of the connection is through. Nil when its caller was cancelled.
    mutating func finished(_ connection: ConnectionID, now: Instant) -> Work? {
        guard let index = index(of: connection), let id = members[index].inFlight.popFirst() else { return nil }
        members[index].progressAt = now
        members[index].hasFinishedAny = true
        backoff.reset()
        return entries.removeValue(forKey: id)?.work
    }

    /// The oldest statement of the connection did not run and may be tried again: true if it will be. If not, the
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

    /// Puts a statement that was on a connection at the head of the queue.
    mutating func waitAgain(_ id: RequestID) {
        entries[id]?.isWaiting = true
        waiting.prepend(id)
        waitingCount += 1
    }

    // MARK: Time

    /// Decides all there is to decide now. To be called after any other verb, and at `nextDeadline`.
    mutating func step(now: Instant, _ actions: inout [Action]) {
        guard phase != .closed else { return }
        closeStalled(now: now, &actions)
        closeLeaving(&actions)
        if case .draining(let deadline) = phase {
            drain(deadline: deadline, now: now, &actions)
            return
        }
        // In this order: a statement for which there is room is sent, even when its time is just up.
        assign(now: now, &actions)
        failWaiting(now: now, &actions)
        openIfWanted(now: now, &actions)
    }

    /// When `step` must be called again though nothing happened.
    func nextDeadline() -> Instant? {
        var earliest: Instant?
        func consider(_ instant: Instant?) {
            guard let instant else { return }
            earliest = earliest.map { min($0, instant) } ?? instant
        }
        if case .draining(let deadline) = phase { consider(deadline) }
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

    /// The one with the least in flight; a slow one only when no other has room.
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

    /// One attempt at a time: a database that comes back is not met by all at once.
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
