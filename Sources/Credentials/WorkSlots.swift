// Who may compute now, who waits, who is turned away: the decisions, without threads or time.

/// A bounded number of slots with a bounded line before them, first come first served.
struct WorkSlots<Waiter> {
    enum Entry: Equatable {
        case go
        case wait
        case refused
    }

    let slotCount: Int
    let waitingCountMax: Int
    private(set) var busyCount = 0
    private var waiting: [(id: UInt64, waiter: Waiter)] = []

    init(slotCount: Int, waitingCountMax: Int) {
        self.slotCount = slotCount
        self.waitingCountMax = waitingCountMax
    }

    var waitingCount: Int { waiting.count }

    /// After `.go` the caller owns a slot and calls `leave` once; after `.wait` it owns one when its waiter is handed
    /// out by `leave`.
    mutating func enter(id: UInt64, _ waiter: Waiter) -> Entry {
        if busyCount < slotCount {
            busyCount += 1
            return .go
        }
        guard waiting.count < waitingCountMax else { return .refused }
        waiting.append((id, waiter))
        return .wait
    }

    /// Gives the slot to the first in line, who is returned, or back.
    mutating func leave() -> Waiter? {
        guard !waiting.isEmpty else {
            busyCount -= 1
            return nil
        }
        return waiting.removeFirst().waiter
    }

    /// Takes one out of the line; nil if it isn't there (any more).
    mutating func giveUp(id: UInt64) -> Waiter? {
        waiting.firstIndex { $0.id == id }.map { waiting.remove(at: $0).waiter }
    }
}
