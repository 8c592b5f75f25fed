// The order in which items are sent, and what a cursor may pass. The test sets the clock.
import TestSupport
import Testing
import Workers

/// An item of a line with a number, which is also its name.
struct Parcel: Deliverable, Equatable {
    typealias Outcome = String

    let key: Int
    let line: Int

    init(_ key: Int, line: Int? = nil) {
        self.key = key
        self.line = line ?? -key
    }
}

@Suite("Ordering the items of a queue", .timeLimit(.minutes(1)))
struct OrderingItems {
    private static let start = ContinuousClock.now

    private static func at(_ ms: Int) -> ContinuousClock.Instant { start + .milliseconds(ms) }
    private func at(_ ms: Int) -> ContinuousClock.Instant { Self.at(ms) }

    private static func queue(_ parcels: [Parcel] = []) -> DeliveryQueue<Parcel> {
        var queue = DeliveryQueue<Parcel>(now: start)
        for parcel in parcels { queue.add(parcel) }
        return queue
    }

    private func sends(_ queue: inout DeliveryQueue<Parcel>, at ms: Int = 0) -> [Int] {
        queue.sends(now: at(ms)).map(\.key)
    }

    @Test("sends one item of a line at a time, and other lines meanwhile")
    func onePerLine() {
        var queue = Self.queue([Parcel(1, line: 1), Parcel(2, line: 1), Parcel(3, line: 2), Parcel(4), Parcel(5)])
        #expect(sends(&queue) == [1, 3, 4, 5])
        #expect(queue.inFlightCount == 4 && queue.count == 5)
        queue.answered(3, nil)
        #expect(sends(&queue) == [])
        queue.answered(1, nil)
        #expect(sends(&queue) == [2])
    }

    @Test("keeps a line behind its failed item until the item is removed")
    func waits() {
        var queue = Self.queue([Parcel(1, line: 1), Parcel(2, line: 2), Parcel(3, line: 1)])
        #expect(sends(&queue) == [1, 2])
        queue.answered(1, nil, .retry(at: at(5_000)))
        queue.answered(2, nil)
        queue.add(Parcel(4, line: 2))
        #expect(sends(&queue, at: 4_999) == [4])
        #expect(sends(&queue, at: 5_000) == [1] && queue.tryCount(of: 1) == 1)
        queue.answered(1, nil, .retry(at: at(9_000)))
        #expect(sends(&queue, at: 8_999) == [] && queue.tryCount(of: 1) == 2)
        #expect(sends(&queue, at: 9_000) == [1])
        queue.answered(1, nil)
        #expect(sends(&queue, at: 9_000) == [3])
    }

    @Test("sends failed items of several lines again in the order of their times")
    func dueTimes() {
        var queue = Self.queue([Parcel(1), Parcel(2), Parcel(3)])
        _ = sends(&queue)
        for (key, ms) in [(1, 300), (2, 100), (3, 200)] { queue.answered(key, nil, .retry(at: at(ms))) }
        #expect(sends(&queue, at: 1_000) == [2, 3, 1])
    }

    @Test("holds the cursor before the first item that is neither removed nor stored")
    func cursor() {
        var queue = Self.queue([Parcel(3, line: 1), Parcel(5, line: 2), Parcel(8, line: 1)])
        #expect(queue.firstUnstored == 3)
        _ = sends(&queue)
        queue.answered(5, nil)
        #expect(queue.firstUnstored == 3)
        queue.answered(3, nil, .retry(at: at(100)))
        queue.stored([3])
        #expect(queue.firstUnstored == 8 && queue.storedCount == 1)
        #expect(queue.takeWaiting(limit: 10) == [Parcel(8, line: 1)])
        queue.stored([8])
        #expect(queue.firstUnstored == nil && queue.storedCount == 2)
        #expect(queue.takeWaiting(limit: 10).isEmpty)
        #expect(sends(&queue, at: 100) == [3])
        queue.answered(3, nil)
        #expect(sends(&queue, at: 100) == [8])
        queue.answered(8, nil)
        #expect(queue.count == 0 && queue.storedCount == 0)
    }

    @Test("names items that come behind a failed one once, in parts")
    func waiting() {
        var queue = Self.queue([Parcel(1, line: 1)])
        _ = sends(&queue)
        queue.answered(1, nil, .retry(at: at(1_000)))
        queue.stored([1])
        for key in 2...6 { queue.add(Parcel(key, line: 1)) }
        let first = queue.takeWaiting(limit: 3).map(\.key)
        #expect(first == [2, 3, 4])
        queue.stored(first)
        #expect(queue.takeWaiting(limit: 3).map(\.key) == [5, 6])
    }

    @Test("sends an item again that was not sent, without counting a try")
    func putBack() {
        var queue = Self.queue([Parcel(1, line: 1), Parcel(2, line: 1)])
        _ = sends(&queue)
        queue.answered(1, nil, .putBack(at: at(50)))
        #expect(sends(&queue, at: 49) == [] && sends(&queue, at: 50) == [1] && queue.tryCount(of: 1) == 0)
        queue.answered(1, nil, .putBack())
        #expect(sends(&queue) == [1] && queue.takeWaiting(limit: 9).isEmpty)
    }

    @Test("continues with items that the database has")
    func restored() {
        var queue = Self.queue()
        queue.add(Parcel(4, line: 1), tryCount: 2, dueAt: at(700), isStored: true)
        queue.add(Parcel(6, line: 1), isStored: true)
        // They are read again, and one is new.
        for key in [6, 7] { queue.add(Parcel(key, line: 1)) }
        queue.add(Parcel(8, line: 2))
        #expect(sends(&queue, at: 699) == [8])
        #expect(queue.count == 4 && queue.firstUnstored == 7)
        #expect(sends(&queue, at: 700) == [4] && queue.tryCount(of: 4) == 2)
    }

    @Test("keeps all these rules in random histories")
    func law() {
        var seeds = SplitMix64(freshFor: "the order of a queue's items")
        for _ in 0..<60 {
            var random = SplitMix64(seed: seeds.next())
            var queue = Self.queue()
            var (last, ms) = (0, 0)
            var lineOf: [Int: Int] = [:]
            var accepted: [Int: [Int]] = [:]
            var underWay: [Int] = []
            for _ in 0..<300 {
                ms += random.below(20)
                switch random.below(4) {
                case 0:
                    last += 1 + random.below(3)
                    lineOf[last] = random.below(8)
                    queue.add(Parcel(last, line: lineOf[last]))
                case 1: underWay += sends(&queue, at: ms)
                default:
                    guard !underWay.isEmpty else { continue }
                    let key = underWay.remove(at: random.below(underWay.count))
                    if random.chance(2) {
                        queue.answered(key, nil, .retry(at: at(ms + 30)))
                        queue.stored([key] + queue.takeWaiting(limit: 2).map(\.key))
                    } else {
                        accepted[lineOf[key] ?? -1, default: []].append(key)
                        let (first, second) = (queue.answered(key, nil), queue.answered(key, nil))
                        #expect(first && !second)
                    }
                }
                let lines = underWay.compactMap { lineOf[$0] }
                #expect(Set(lines).count == lines.count)
                let done = Set(accepted.values.joined())
                let cursor = queue.firstUnstored.map { $0 - 1 } ?? last
                #expect(lineOf.keys.filter { $0 <= cursor && !done.contains($0) }.count <= queue.storedCount)
            }
            while queue.count > 0 {
                ms += 30
                for key in underWay + sends(&queue, at: ms) {
                    accepted[lineOf[key] ?? -1, default: []].append(key)
                    queue.answered(key, nil)
                }
                underWay = []
            }
            #expect(accepted.values.allSatisfy { $0 == $0.sorted() })
            #expect(accepted.values.joined().count == lineOf.count && queue.firstUnstored == nil)
        }
    }
}
