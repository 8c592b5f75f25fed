// Which caller runs now, which waits and which is refused: the decisions of Slots, without threads or time.

/// A bounded number of slots with a bounded line before them. The line has flows, one for each owner of jobs. A free slot
/// goes to a flow that runs the fewest jobs; flows that run as many are served in turn. So a flow with many waiters
/// delays another flow by one job a round and no more. A flow that is new in the line comes before the flow that was
/// served last. Within a flow waiters are served in the order in which they came.
///
/// Cost: O(flows) when the line is full, when a waiter gives up, or when several flows wait for a slot; else O(1).
struct SlotLine<Flow: Hashable, Waiter> {
    enum Entry {
        case go
        case wait
        /// The caller waits. The waiter returned here lost its place to the caller and must be refused.
        case waitInsteadOf(Waiter)
        /// The line of this flow is full.
        case flowFull
        /// The line of all flows together is full.
        case full
    }

    private struct FlowState {
        var runningCount = 0
        var waiters: [(id: UInt64, waiter: Waiter)] = []
    }

    private let limits: SlotLimits
    private(set) var busyCount = 0
    private(set) var waitingCount = 0
    /// The flows that have runners or waiters.
    private var flows: [Flow: FlowState] = [:]
    /// The flows that have waiters and run fewer jobs than a flow may, in turn.
    private var turns: [Flow] = []
    private var servedLast: Flow?

    init(_ limits: SlotLimits) { self.limits = limits }

    /// Returns whether the caller owns a slot now. Then it calls `leave` once.
    mutating func begin(_ flow: Flow) -> Bool {
        guard busyCount < limits.slotCount, mayStart(flow) else { return false }
        start(flow)
        return true
    }

    /// After `.go` the caller owns a slot and calls `leave` once. After `.wait` the caller owns one when `leave`
    /// returns its waiter. In a full line the last waiter of the longest flow makes way for a flow that is shorter by
    /// two or more.
    mutating func enter(_ flow: Flow, id: UInt64, _ waiter: Waiter) -> Entry {
        if begin(flow) { return .go }
        let ownCount = flows[flow]?.waiters.count ?? 0
        guard ownCount < limits.flowWaitingCountMax else { return .flowFull }
        guard waitingCount >= limits.waitingCountMax else {
            append(flow, id: id, waiter)
            return .wait
        }
        guard let longest = flows.max(by: { $0.value.waiters.count < $1.value.waiters.count }),
            longest.value.waiters.count > ownCount + 1, let last = longest.value.waiters.last,
            let displaced = giveUp(longest.key, id: last.id)
        else { return .full }
        append(flow, id: id, waiter)
        return .waitInsteadOf(displaced)
    }

    /// Frees a slot of the flow and passes it to the waiter whose turn it is. Returns that waiter.
    mutating func leave(_ flow: Flow) -> Waiter? {
        stop(flow)
        guard let index = nextTurn, let next = flows[turns[index]]?.waiters.removeFirst() else { return nil }
        let served = turns.remove(at: index)
        waitingCount -= 1
        start(served)
        if flows[served]?.waiters.isEmpty == false, mayStart(served) { turns.append(served) }
        return next.waiter
    }

    /// Passes a slot of a flow to a job of another one, past the line. The job that had it must not call `leave`.
    mutating func pass(_ flow: Flow, to other: Flow) {
        stop(flow)
        start(other)
        if !mayStart(other) { turns.removeAll { $0 == other } }
    }

    /// Removes a waiter from the line. Returns nil if the waiter is not, or no longer, in the line.
    mutating func giveUp(_ flow: Flow, id: UInt64) -> Waiter? {
        guard let index = flows[flow]?.waiters.firstIndex(where: { $0.id == id }),
            let removed = flows[flow]?.waiters.remove(at: index)
        else { return nil }
        waitingCount -= 1
        if flows[flow]?.waiters.isEmpty == true {
            turns.removeAll { $0 == flow }
            forgetIfIdle(flow)
        }
        return removed.waiter
    }

    /// Whether the flow runs fewer jobs than a flow may.
    func mayStart(_ flow: Flow) -> Bool { (flows[flow]?.runningCount ?? 0) < limits.flowSlotCount }

    /// Of the flows that run the fewest jobs, the one whose turn is first.
    private var nextTurn: Int? {
        var best: (index: Int, runningCount: Int)?
        for (index, flow) in turns.enumerated() {
            let runningCount = flows[flow]?.runningCount ?? 0
            if runningCount < best?.runningCount ?? .max { best = (index, runningCount) }
            if runningCount == 0 { break }
        }
        return best?.index
    }

    private mutating func start(_ flow: Flow) {
        busyCount += 1
        flows[flow, default: FlowState()].runningCount += 1
        servedLast = flow
    }

    private mutating func stop(_ flow: Flow) {
        let wasFull = !mayStart(flow)
        busyCount -= 1
        flows[flow]?.runningCount -= 1
        if wasFull, mayStart(flow), flows[flow]?.waiters.isEmpty == false { takeTurn(flow) }
        forgetIfIdle(flow)
    }

    private mutating func append(_ flow: Flow, id: UInt64, _ waiter: Waiter) {
        if flows[flow]?.waiters.isEmpty != false, mayStart(flow) { takeTurn(flow) }
        flows[flow, default: FlowState()].waiters.append((id, waiter))
        waitingCount += 1
    }

    private mutating func takeTurn(_ flow: Flow) {
        turns.insert(flow, at: turns.last != nil && turns.last == servedLast ? turns.count - 1 : turns.count)
    }

    private mutating func forgetIfIdle(_ flow: Flow) {
        if let state = flows[flow], state.runningCount == 0, state.waiters.isEmpty { flows[flow] = nil }
    }
}
