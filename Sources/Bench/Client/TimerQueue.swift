// Timers by their time.
import HeapModule

/// Work by its time. At equal times the work added first comes first.
struct TimerQueue {
    private struct Entry: Comparable {
        let time: MonotonicTime
        let order: Int
        let work: () -> Void

        static func == (left: Entry, right: Entry) -> Bool { left.order == right.order }
        static func < (left: Entry, right: Entry) -> Bool { (left.time, left.order) < (right.time, right.order) }
    }

    private var heap = Heap<Entry>()
    private var addedCount = 0

    mutating func add(_ time: MonotonicTime, _ work: @escaping () -> Void) {
        heap.insert(Entry(time: time, order: addedCount, work: work))
        addedCount += 1
    }

    /// Removes and returns work whose time has come.
    mutating func next(at now: MonotonicTime = .now) -> (() -> Void)? {
        guard let first = heap.min, first.time <= now else { return nil }
        return heap.removeMin().work
    }

    /// Milliseconds to the first timer, rounded up so that its time has come then; -1 without timers.
    func waitMs(at now: MonotonicTime = .now) -> Int32 {
        guard let first = heap.min else { return -1 }
        return Int32(clamping: max(0, first.time - now + 999_999) / 1_000_000)
    }
}
