// What waits to be written. Which items make the next batch is decided here, without I/O.
import DequeModule

/// A bounded queue from which batches are taken: one at a time, each with all that has come, up to the bounds.
struct BatchQueue<Item> {
    struct Limits: Sendable {
        /// Of one batch. Measured: 50 to 100 a call is where appending is fastest.
        var batchCountMax = 100
        var batchByteCountMax = 2 << 20
        /// Of all that waits.
        var queueCountMax = 10_000
        var queueByteCountMax = 64 << 20
    }

    enum Admission { case queued, full, closed }

    let limits: Limits
    private var queue: Deque<(item: Item, byteCount: Int)> = []
    private var byteCount = 0
    private(set) var isClosed = false

    init(limits: Limits = Limits()) { self.limits = limits }

    var count: Int { queue.count }

    mutating func add(_ item: Item, byteCount: Int) -> Admission {
        guard !isClosed else { return .closed }
        guard queue.count < limits.queueCountMax, self.byteCount + byteCount <= limits.queueByteCountMax else {
            return .full
        }
        queue.append((item, byteCount))
        self.byteCount += byteCount
        return .queued
    }

    /// Those at the front that fulfil a condition, however many.
    mutating func take(while condition: (Item) -> Bool) -> [Item] {
        var taken: [Item] = []
        while let next = queue.first, condition(next.item) {
            queue.removeFirst()
            byteCount -= next.byteCount
            taken.append(next.item)
        }
        return taken
    }

    /// What goes next, in the order it came; empty when nothing waits.
    mutating func take() -> [Item] {
        var batch: [Item] = []
        var batchByteCount = 0
        while let next = queue.first, batch.count < limits.batchCountMax,
            batch.isEmpty || batchByteCount + next.byteCount <= limits.batchByteCountMax
        {
            queue.removeFirst()
            batch.append(next.item)
            batchByteCount += next.byteCount
        }
        byteCount -= batchByteCount
        return batch
    }

    /// Takes nothing more in; what waits is still to be taken.
    mutating func close() { isClosed = true }
}
