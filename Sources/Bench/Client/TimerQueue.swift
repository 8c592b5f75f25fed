// Timers by their time, in a heap.

/// Work by its time. At equal times the work added first comes first.
struct TimerQueue {
    private struct Entry {
        let time: MonotonicTime
        let order: Int
        let work: () -> Void

        func isBefore(_ other: Entry) -> Bool { (time, order) < (other.time, other.order) }
    }

    private var heap: [Entry] = []
    private var addedCount = 0

    mutating func add(_ time: MonotonicTime, _ work: @escaping () -> Void) {
        heap.append(Entry(time: time, order: addedCount, work: work))
        addedCount += 1
        var child = heap.count - 1
        while child > 0, heap[child].isBefore(heap[(child - 1) / 2]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Removes and returns work whose time has come.
    mutating func next(at now: MonotonicTime = .now) -> (() -> Void)? {
        guard let first = heap.first, first.time <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].isBefore(heap[least]) {
                least = child
            }
            guard least != parent else { return first.work }
            heap.swapAt(parent, least)
            parent = least
        }
    }

    /// Milliseconds to the first timer, rounded up so that its time has come then; -1 without timers.
    func waitMs(at now: MonotonicTime = .now) -> Int32 {
        guard let first = heap.first else { return -1 }
        return Int32(clamping: max(0, first.time - now + 999_999) / 1_000_000)
    }
}
