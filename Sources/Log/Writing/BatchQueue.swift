// Items that wait to be written. Decides which of them make the next batch, without I/O.
import DequeModule

/// A bounded queue. Each batch has all waiting items, up to the bounds.
struct BatchQueue<Item> {
    struct Limits: Sendable {
        /// Items of one batch. Measured: appending is fastest with 50 to 100 items a call.
        var batchCountMax = 100
        var batchByteCountMax = 2 << 20
        /// Items that wait.
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

    /// Removes and returns the items at the head of the queue, as long as they fulfil a condition.
    mutating func take(while condition: (Item) -> Bool) -> [Item] {
        var taken: [Item] = []
        while let next = queue.first, condition(next.item) {
            queue.removeFirst()
            byteCount -= next.byteCount
            taken.append(next.item)
        }
        return taken
    }

    /// Removes and returns the next batch, in the order of arrival; empty when nothing waits.
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

    /// Accepts no more items. Waiting items still go into batches.
    mutating func close() { isClosed = true }
}
