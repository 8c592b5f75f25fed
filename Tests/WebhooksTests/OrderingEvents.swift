// The order in which an endpoint gets its events. The test sets the clock.
import Domain
import TestSupport
import Testing
import Webhooks

@Suite("Ordering the events of a webhook", .timeLimit(.minutes(1)))
struct OrderingEvents {
    private static let threads = (0..<8).map { _ in ThreadID.make() }
    private let a = threads[0]
    private let b = threads[1]

    private func queue(isOrdered: Bool = true, _ events: [(Int64, ThreadID?)]) -> WebhookQueue {
        var queue = WebhookQueue(isOrdered: isOrdered)
        for (position, thread) in events { queue.add(Position(position), thread: thread) }
        return queue
    }

    /// Takes everything that may go now.
    private func take(_ queue: inout WebhookQueue, at nowMs: Int64 = 0) -> [Int64] {
        var taken: [Int64] = []
        while let position = queue.next(nowMs: nowMs) { taken.append(position.value) }
        return taken
    }

    @Test("sends one event of a thread at a time, and other threads meanwhile")
    func onePerThread() {
        var queue = queue([(1, a), (2, a), (3, b), (4, nil), (5, nil)])
        #expect(take(&queue) == [1, 3, 4])
        #expect(queue.inFlightCount == 3 && queue.count == 5)
        queue.done(Position(3))
        #expect(take(&queue) == [])
        queue.done(Position(1))
        queue.done(Position(4))
        #expect(take(&queue) == [2, 5])
    }

    @Test("without order sends all at once")
    func unordered() {
        var queue = queue(isOrdered: false, [(1, a), (2, a), (3, nil)])
        #expect(take(&queue) == [1, 2, 3])
        queue.failed(Position(1), retryAtMs: 100)
        #expect(queue.takeWaiting(limit: 10).isEmpty)
        queue.done(Position(2))
        #expect(take(&queue, at: 99) == [] && take(&queue, at: 100) == [1])
    }

    @Test("keeps a thread behind its failed event until the event is delivered or parked")
    func waits() {
        var queue = queue([(1, a), (2, b), (3, a)])
        #expect(take(&queue) == [1, 2])
        queue.failed(Position(1), retryAtMs: 5_000)
        queue.done(Position(2))
        queue.add(Position(4), thread: b)
        #expect(take(&queue, at: 4_999) == [4])
        #expect(queue.nextDueMs == 5_000)
        #expect(take(&queue, at: 5_000) == [1] && queue.tryCount(of: Position(1)) == 1)
        queue.failed(Position(1), retryAtMs: 9_000)
        #expect(take(&queue, at: 8_999) == [] && queue.tryCount(of: Position(1)) == 2)
        #expect(take(&queue, at: 9_000) == [1])
        queue.done(Position(1))
        #expect(take(&queue, at: 9_000) == [3])
    }

    @Test("retries failed events of several threads in the order of their times")
    func dueTimes() {
        var queue = queue([(1, a), (2, b), (3, Self.threads[2])])
        _ = take(&queue)
        queue.failed(Position(1), retryAtMs: 300)
        queue.failed(Position(2), retryAtMs: 100)
        queue.failed(Position(3), retryAtMs: 200)
        #expect(queue.nextDueMs == 100)
        #expect(take(&queue, at: 1_000) == [2, 3, 1])
    }

    @Test("holds the cursor below the first event that is neither done nor stored")
    func cursor() {
        var queue = queue([(3, a), (5, b), (8, a)])
        let end = Position(10)
        #expect(queue.cursor(readTo: end) == Position(2))
        _ = take(&queue)
        queue.done(Position(5))
        #expect(queue.cursor(readTo: end) == Position(2))
        queue.failed(Position(3), retryAtMs: 100)
        queue.stored([Position(3)])
        #expect(queue.cursor(readTo: end) == Position(7) && queue.storedCount == 1)
        let waiting = queue.takeWaiting(limit: 10)
        #expect(waiting.map(\.position.value) == [8] && waiting.map(\.thread) == [a])
        queue.stored([Position(8)])
        #expect(queue.cursor(readTo: end) == end && queue.storedCount == 2)
        #expect(queue.takeWaiting(limit: 10).isEmpty)
        #expect(take(&queue, at: 100) == [3])
        queue.done(Position(3))
        #expect(take(&queue, at: 100) == [8])
        queue.done(Position(8))
        #expect(queue.count == 0 && queue.storedCount == 0 && queue.cursor(readTo: end) == end)
    }

    @Test("names events that come behind a failed one once, in parts")
    func waiting() {
        var queue = queue([(1, a)])
        _ = take(&queue)
        queue.failed(Position(1), retryAtMs: 1_000)
        queue.stored([Position(1)])
        for position in 2...6 { queue.add(Position(Int64(position)), thread: a) }
        let first = queue.takeWaiting(limit: 3).map(\.position.value)
        #expect(first == [2, 3, 4])
        queue.stored(first.map { Position($0) })
        #expect(queue.takeWaiting(limit: 3).map(\.position.value) == [5, 6])
    }

    @Test("sends an event again that was not sent, without counting a try")
    func unsent() {
        var queue = queue([(1, a), (2, a)])
        _ = take(&queue)
        queue.unsent(Position(1), retryAtMs: 50)
        #expect(take(&queue, at: 49) == [] && take(&queue, at: 50) == [1] && queue.tryCount(of: Position(1)) == 0)
    }

    @Test("goes on with events that the database has")
    func restored() {
        var queue = WebhookQueue(isOrdered: true)
        queue.add(Position(4), thread: a, tryCount: 2, dueMs: 700, isStored: true)
        queue.add(Position(6), thread: a, isStored: true)
        // The log is read again from the cursor, and has some of them.
        for position in [Int64(6), 7] { queue.add(Position(position), thread: a) }
        queue.add(Position(8), thread: b)
        #expect(take(&queue, at: 699) == [8])
        #expect(queue.count == 4 && queue.cursor(readTo: Position(9)) == Position(6))
        #expect(take(&queue, at: 700) == [4] && queue.tryCount(of: Position(4)) == 2)
    }

    @Test("keeps all these rules in random histories")
    func law() {
        var seeds = SplitMix64(freshFor: "the order of a webhook's events")
        for _ in 0..<200 {
            var random = SplitMix64(seed: seeds.next())
            var queue = WebhookQueue(isOrdered: true)
            var (last, nowMs) = (Int64(0), Int64(0))
            var threadOf: [Int64: ThreadID] = [:]
            var accepted: [ThreadID: [Int64]] = [:]
            var underWay: [Int64] = []
            for _ in 0..<400 {
                nowMs += Int64.random(in: 0...20, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    last += Int64.random(in: 1...3, using: &random)
                    let thread = Self.threads[Int.random(in: 0..<8, using: &random)]
                    threadOf[last] = thread
                    queue.add(Position(last), thread: thread)
                case 1:
                    if let next = queue.next(nowMs: nowMs) { underWay.append(next.value) }
                default:
                    guard let index = underWay.indices.randomElement(using: &random) else { continue }
                    let position = underWay.remove(at: index)
                    guard let thread = threadOf[position] else { continue }
                    if Bool.random(using: &random) {
                        queue.failed(Position(position), retryAtMs: nowMs + 30)
                        queue.stored([Position(position)] + queue.takeWaiting(limit: 2).map(\.position))
                    } else {
                        accepted[thread, default: []].append(position)
                        queue.done(Position(position))
                    }
                }
                let threads = underWay.compactMap { threadOf[$0] }
                #expect(Set(threads).count == threads.count)
                let done = Set(accepted.values.joined())
                let cursor = queue.cursor(readTo: Position(last)).value
                #expect(threadOf.keys.filter { $0 <= cursor && !done.contains($0) }.count <= queue.storedCount)
            }
            while queue.count > 0 {
                nowMs += 30
                while let next = queue.next(nowMs: nowMs) { underWay.append(next.value) }
                for position in underWay {
                    if let thread = threadOf[position] { accepted[thread, default: []].append(position) }
                    queue.done(Position(position))
                }
                underWay = []
            }
            #expect(accepted.values.allSatisfy { $0 == $0.sorted() })
            #expect(accepted.values.joined().count == threadOf.count)
            #expect(queue.cursor(readTo: Position(last)) == Position(last))
        }
    }
}
