// The tail and this node's own writes: delivering them without reading, and taking turns with other nodes that write.
import Domain
import Store

/// Whether this node writes, and whether others write too.
struct TurnState {
    /// A call is under way or about to begin. After it the log is read anyway, if others have written.
    private(set) var isWriting = false
    /// Since the last call began, another node has written, or this node by other calls. Such events only come here by
    /// reading.
    var areShared = false
    private var wereShared = false

    /// Stays true for one more call, because no other node writes during this node's turn.
    var isTurnNeeded: Bool { wereShared || areShared }

    mutating func begin() {
        isWriting = true
        (wereShared, areShared) = (areShared, false)
    }

    mutating func end() { isWriting = false }
}

/// While other nodes write, a batch that is sent at once only waits for the log's lock. Messages that arrive meanwhile
/// miss the batch. Three nodes would then write batches of a third of the size, each at the full cost. So a node
/// waits for its turn before it takes a batch. It asks the database for its turn, and the answer brings the events of
/// the others. Such a node needs no other reads.
extension Tail: Turns {
    func begin() { state.withLock { $0.turns.begin() } }

    var areShared: Bool { state.withLock { $0.turns.isTurnNeeded } }

    func wait(_ take: @escaping @Sendable () -> Void) {
        let start = ContinuousClock.now
        store.readLogInTurn(after: hub.head.position, limit: Self.pageCount) { result in
            if case .success(let part) = result, part.events.count < Self.pageCount, self.takeNext(part) {
                self.caughtUp(with: part, since: start)
            } else {
                self.check()
            }
            take()
        }
    }

    func end() {
        let isBehind = state.withLock { state in
            state.turns.end()
            return state.notifiedAt != nil || state.isBehindOwn
        }
        if isBehind { ask() }
    }

    /// Delivers what this node has just written, from the call's answer. It is committed; if it comes next here,
    /// nothing below it is missing. Otherwise it is read from the log.
    func take(written: LogPart) {
        guard !takeNext(written) else {
            metrics.events.add(.own, written.events.count)
            recordAges(of: written.events)
            return
        }
        let isToBeRead = state.withLock { state in
            state.isBehindOwn = true
            state.turns.areShared = true
            return !state.turns.isWriting
        }
        if isToBeRead { ask() }
    }

    /// Delivers events if the first of them comes next here, or was delivered already.
    private func takeNext(_ part: LogPart) -> Bool {
        guard let epoch = part.epoch, let first = part.events.first, let last = part.events.last else { return true }
        guard last.position.value - first.position.value == Int64(part.events.count - 1) else { return false }
        revokeTokens(in: part.events)
        return hub.applyNext(part.events.map(Event.init), epoch: epoch)
    }

    /// Records that the log was read to the end that it had at `start`, or later.
    private func caughtUp(with part: LogPart, since start: ContinuousClock.Instant) {
        let head = hub.head.position
        let notifiedAt = state.withLock { state in
            state.caughtUpAt = start
            state.isBehindOwn = false
            defer { if state.notified <= head { state.notifiedAt = nil } }
            return state.notifiedAt
        }
        if !part.events.isEmpty { count(part.events, .turn, notifiedAt: notifiedAt) }
    }
}
