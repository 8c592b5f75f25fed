// Which caller computes now, which waits, which is refused: the decisions, without threads or time.

/// A bounded number of slots with a bounded line before them. The line has lanes, which are served in turn, so a lane with
/// many waiters delays another lane by one job a round and no more. The lane that was served last comes after a lane that is
/// new in the line. Within a lane the first to come is served first.
///
/// Cost: O(lanes) where the line is full or a waiter gives up, else O(1).
struct WorkSlots<Waiter> {
    enum Entry {
        case go
        case wait
        /// The caller waits; the waiter returned here lost its place to the caller and must be refused.
        case waitInsteadOf(Waiter)
        case refused
    }

    private typealias Lane = [(id: UInt64, waiter: Waiter)]

    let slotCount: Int
    let waitingCountMax: Int
    private(set) var busyCount = 0
    private(set) var waitingCount = 0
    private var lanes: [String: Lane] = [:]
    /// The names of the lanes that have waiters; the first is served next.
    private var turns: [String] = []
    private var servedLast: String?

    init(slotCount: Int, waitingCountMax: Int) {
        self.slotCount = slotCount
        self.waitingCountMax = waitingCountMax
    }

    /// After `.go` the caller owns a slot and calls `leave` once. After `.wait` the caller owns one when `leave` returns its
    /// waiter. In a full line the last waiter of the longest lane makes way for a lane that is shorter by two or more.
    mutating func enter(id: UInt64, lane name: String, _ waiter: Waiter) -> Entry {
        if busyCount < slotCount {
            busyCount += 1
            servedLast = name
            return .go
        }
        guard waitingCount >= waitingCountMax else {
            append(id: id, lane: name, waiter)
            return .wait
        }
        let ownCount = lanes[name]?.count ?? 0
        guard let longest = lanes.max(by: { $0.value.count < $1.value.count }),
            longest.value.count > ownCount + 1, let last = longest.value.last,
            let displaced = giveUp(id: last.id, lane: longest.key)
        else { return .refused }
        append(id: id, lane: name, waiter)
        return .waitInsteadOf(displaced)
    }

    /// Hands the slot to the first waiter of the lane whose turn it is, who is returned, or frees the slot.
    mutating func leave() -> Waiter? {
        guard let name = turns.first, let next = lanes[name]?.first else {
            busyCount -= 1
            return nil
        }
        turns.removeFirst()
        servedLast = name
        lanes[name]?.removeFirst()
        waitingCount -= 1
        if lanes[name]?.isEmpty == true {
            lanes[name] = nil
        } else {
            turns.append(name)
        }
        return next.waiter
    }

    /// Removes a waiter from the line; nil if it is not there, or no longer.
    mutating func giveUp(id: UInt64, lane name: String) -> Waiter? {
        guard let index = lanes[name]?.firstIndex(where: { $0.id == id }),
            let removed = lanes[name]?.remove(at: index)
        else { return nil }
        waitingCount -= 1
        if lanes[name]?.isEmpty == true {
            lanes[name] = nil
            turns.removeAll { $0 == name }
        }
        return removed.waiter
    }

    private mutating func append(id: UInt64, lane name: String, _ waiter: Waiter) {
        if lanes[name] == nil {
            turns.insert(name, at: turns.last != nil && turns.last == servedLast ? turns.count - 1 : turns.count)
        }
        lanes[name, default: []].append((id, waiter))
        waitingCount += 1
    }
}
