// Checks what a device received: nothing lost, duplicated or out of order.

/// The messages of one thread that a device received. Seqs have no holes, so each must follow the last.
package struct Stretch: Sendable, Equatable {
    package private(set) var last: Int64
    package private(set) var count = 0
    package private(set) var doubled = 0
    package private(set) var outOfOrder = 0
    /// Skipped, and not received since.
    private var missing: [ClosedRange<Int64>] = []

    /// - Parameter after: the seq before the first that is expected.
    package init(after: Int64) { last = after }

    package mutating func take(_ seq: Int64) {
        count += 1
        if seq > last {
            if seq > last + 1 { missing.append(last + 1...seq - 1) }
            last = seq
        } else if let index = missing.firstIndex(where: { $0.contains(seq) }) {
            outOfOrder += 1
            let hole = missing.remove(at: index)
            if hole.lowerBound < seq { missing.append(hole.lowerBound...seq - 1) }
            if seq < hole.upperBound { missing.append(seq + 1...hole.upperBound) }
        } else {
            doubled += 1
        }
    }

    /// Returns how many messages up to the thread's head were not received.
    package func lost(upTo head: Int64) -> Int {
        missing.reduce(Int(max(0, head - last))) { $0 + $1.count }
    }
}

/// The messages of all its threads that a device received.
package struct Deliveries: Sendable {
    package private(set) var threads: [ThreadKey: Stretch] = [:]

    package init() {}

    /// Sets the seq after which messages are expected. Any other thread begins with the first message received.
    package mutating func expect(_ thread: ThreadKey, after seq: Int64) { threads[thread] = Stretch(after: seq) }

    package mutating func take(_ message: SeenMessage) {
        threads[message.thread, default: Stretch(after: message.seq - 1)].take(message.seq)
    }

    package var verdict: Verdict {
        threads.values.reduce(into: Verdict()) { verdict, stretch in
            verdict.messages += stretch.count
            verdict.lost += stretch.lost(upTo: stretch.last)
            verdict.doubled += stretch.doubled
            verdict.outOfOrder += stretch.outOfOrder
        }
    }

    /// Returns the verdict, given the heads of the threads.
    package func verdict(heads: [ThreadKey: Int64]) -> Verdict {
        var verdict = verdict
        for (thread, stretch) in threads {
            verdict.lost += Int(max(0, (heads[thread] ?? 0) - stretch.last))
        }
        return verdict
    }
}

/// How many messages were received, and what was wrong.
package struct Verdict: Sendable, Equatable, CustomStringConvertible {
    package var messages = 0
    package var lost = 0
    package var doubled = 0
    package var outOfOrder = 0

    package var description: String {
        "of \(messages) messages: \(lost) lost, \(doubled) duplicated, \(outOfOrder) out of order"
    }

    package var isGood: Bool { lost == 0 && doubled == 0 && outOfOrder == 0 }

    package static func += (left: inout Verdict, right: Verdict) {
        left.messages += right.messages
        left.lost += right.lost
        left.doubled += right.doubled
        left.outOfOrder += right.outOfOrder
    }
}
