// Which caller runs now, which waits and which is refused: the decisions of Slots, without threads or time.

/// A bounded number of slots with a bounded line before them. The line has lanes, one for each owner of jobs. A free slot
/// goes to a lane that runs the fewest jobs; lanes that run as many are served in turn. So a lane with many waiters
/// delays another lane by one job a round and no more. A lane that is new in the line comes before the lane that was
/// served last. Within a lane waiters are served in the order in which they came.
///
/// Cost: O(lanes) when the line is full, when a waiter gives up, or when several lanes wait for a slot; else O(1).
struct SlotLine<Lane: Hashable, Waiter> {
    enum Entry {
        case go
        case wait
        /// The caller waits. The waiter returned here lost its place to the caller and must be refused.
        case waitInsteadOf(Waiter)
        /// The line of this lane is full.
        case laneFull
        /// The line of all lanes together is full.
        case full
    }

    private struct LaneState {
        var runningCount = 0
        var waiters: [(id: UInt64, waiter: Waiter)] = []
    }

    private let limits: SlotLimits
    private(set) var busyCount = 0
    private(set) var waitingCount = 0
    /// The lanes that have runners or waiters.
    private var lanes: [Lane: LaneState] = [:]
    /// The lanes that have waiters and run fewer jobs than a lane may, in turn.
    private var turns: [Lane] = []
    private var servedLast: Lane?

    init(_ limits: SlotLimits) { self.limits = limits }

    /// Returns whether the caller owns a slot now. Then it calls `leave` once.
    mutating func begin(_ lane: Lane) -> Bool {
        guard busyCount < limits.slotCount, mayStart(lane) else { return false }
        start(lane)
        return true
    }

    /// After `.go` the caller owns a slot and calls `leave` once. After `.wait` the caller owns one when `leave`
    /// returns its waiter. In a full line the last waiter of the longest lane makes way for a lane that is shorter by
    /// two or more.
    mutating func enter(_ lane: Lane, id: UInt64, _ waiter: Waiter) -> Entry {
        if begin(lane) { return .go }
        let ownCount = lanes[lane]?.waiters.count ?? 0
        guard ownCount < limits.laneWaitingCountMax else { return .laneFull }
        guard waitingCount >= limits.waitingCountMax else {
            append(lane, id: id, waiter)
            return .wait
        }
        guard let longest = lanes.max(by: { $0.value.waiters.count < $1.value.waiters.count }),
            longest.value.waiters.count > ownCount + 1, let last = longest.value.waiters.last,
            let displaced = giveUp(longest.key, id: last.id)
        else { return .full }
        append(lane, id: id, waiter)
        return .waitInsteadOf(displaced)
    }

    /// Frees a slot of the lane and passes it to the waiter whose turn it is. Returns that waiter.
    mutating func leave(_ lane: Lane) -> Waiter? {
        stop(lane)
        guard let index = nextTurn, let next = lanes[turns[index]]?.waiters.removeFirst() else { return nil }
        let served = turns.remove(at: index)
        waitingCount -= 1
        start(served)
        if lanes[served]?.waiters.isEmpty == false, mayStart(served) { turns.append(served) }
        return next.waiter
    }

    /// Passes a slot of a lane to a job of another one, past the line. The job that had it must not call `leave`.
    mutating func pass(_ lane: Lane, to other: Lane) {
        stop(lane)
        start(other)
        if !mayStart(other) { turns.removeAll { $0 == other } }
    }

    /// Removes a waiter from the line. Returns nil if the waiter is not, or no longer, in the line.
    mutating func giveUp(_ lane: Lane, id: UInt64) -> Waiter? {
        guard let index = lanes[lane]?.waiters.firstIndex(where: { $0.id == id }),
            let removed = lanes[lane]?.waiters.remove(at: index)
        else { return nil }
        waitingCount -= 1
        if lanes[lane]?.waiters.isEmpty == true {
            turns.removeAll { $0 == lane }
            forgetIfIdle(lane)
        }
        return removed.waiter
    }

    private func mayStart(_ lane: Lane) -> Bool { (lanes[lane]?.runningCount ?? 0) < limits.laneSlotCount }

    /// Of the lanes that run the fewest jobs, the one whose turn is first.
    private var nextTurn: Int? {
        var best: (index: Int, runningCount: Int)?
        for (index, lane) in turns.enumerated() {
            let runningCount = lanes[lane]?.runningCount ?? 0
            if runningCount < best?.runningCount ?? .max { best = (index, runningCount) }
            if runningCount == 0 { break }
        }
        return best?.index
    }

    private mutating func start(_ lane: Lane) {
        busyCount += 1
        lanes[lane, default: LaneState()].runningCount += 1
        servedLast = lane
    }

    private mutating func stop(_ lane: Lane) {
        let wasFull = !mayStart(lane)
        busyCount -= 1
        lanes[lane]?.runningCount -= 1
        if wasFull, mayStart(lane), lanes[lane]?.waiters.isEmpty == false { takeTurn(lane) }
        forgetIfIdle(lane)
    }

    private mutating func append(_ lane: Lane, id: UInt64, _ waiter: Waiter) {
        if lanes[lane]?.waiters.isEmpty != false, mayStart(lane) { takeTurn(lane) }
        lanes[lane, default: LaneState()].waiters.append((id, waiter))
        waitingCount += 1
    }

    private mutating func takeTurn(_ lane: Lane) {
        turns.insert(lane, at: turns.last != nil && turns.last == servedLast ? turns.count - 1 : turns.count)
    }

    private mutating func forgetIfIdle(_ lane: Lane) {
        if let state = lanes[lane], state.runningCount == 0, state.waiters.isEmpty { lanes[lane] = nil }
    }
}
