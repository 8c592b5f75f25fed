// When items are claimed and sent, and when their outcomes are recorded. The test sets the clock.
import Basics
import Testing
import Workers

@Suite("Claiming items and recording their outcomes", .timeLimit(.minutes(1)))
struct ClaimingItems {
    private static let start = ContinuousClock.now
    private func at(_ seconds: Double) -> ContinuousClock.Instant { Self.start + .seconds(seconds) }
    private func time(_ seconds: Double) -> DeliveryTime { DeliveryTime(instant: at(seconds), ms: 0) }

    private func queue(
        _ count: Int = 0, pace: Pace.Rules = .init(), leaseEnd: Double? = nil,
        _ change: (inout DeliveryQueue<Parcel>.Limits) -> Void = { _ in }
    ) -> DeliveryQueue<Parcel> {
        var limits = DeliveryQueue<Parcel>.Limits()
        change(&limits)
        var queue = DeliveryQueue<Parcel>(
            limits: limits, pace: Pace(pace), leaseEnd: leaseEnd.map { at($0) }, now: Self.start)
        for key in 0..<count { queue.add(Parcel(key)) }
        return queue
    }

    /// `claim 3`, `settle 1 2`, `wait` or `end`; what is to be sent comes first.
    private func step(_ queue: inout DeliveryQueue<Parcel>, at seconds: Double = 0) -> String {
        let sends = queue.sends(now: time(seconds)).map { "send \($0.key), " }.joined()
        switch queue.step(now: time(seconds)) {
        case .claim(let count): return sends + "claim \(count)"
        case .settle(let settlement):
            queue.settled(settlement, now: at(seconds))
            return sends + "settle" + settlement.outcomes.keys.sorted().map { " \($0)" }.joined()
        case .wait: return sends + "wait"
        case .end: return sends + "end"
        }
    }

    @Test("claims no more than there is room for, and an item has its room until its outcome is recorded")
    func room() throws {
        var queue = queue { $0.heldCountMax = 2 }
        #expect(step(&queue) == "claim 2" && step(&queue) == "wait")
        for key in [1, 2] { queue.add(Parcel(key)) }
        queue.wake()
        #expect(step(&queue) == "send 1, send 2, wait" && queue.heldCount == 2)
        queue.answered(1, "done")
        guard case .settle(let settlement) = queue.step(now: time(0)) else {
            Issue.record("nothing is recorded")
            return
        }
        #expect(step(&queue) == "wait" && queue.heldCount == 2)
        queue.settled(settlement, now: at(0))
        #expect(step(&queue) == "claim 1")
    }

    @Test("looks again after a wake-up, a recorded outcome, and a claim that failed, and not without one of these")
    func due() {
        var queue = queue()
        #expect(step(&queue).hasPrefix("claim") && step(&queue) == "wait")
        queue.wake()
        #expect(step(&queue).hasPrefix("claim") && step(&queue) == "wait")
        queue.claimFailed()
        #expect(step(&queue).hasPrefix("claim") && step(&queue) == "wait")
        queue.keep(1, "refused")
        #expect(step(&queue) == "settle 1" && step(&queue).hasPrefix("claim") && step(&queue) == "wait")
    }

    @Test("waits with a claim for room for several items, but claims one while the receiver is slowed")
    func fewClaims() {
        var rules = Pace.Rules()
        rules.windowMax = 4
        var queue = queue(3, pace: rules) { $0.claimCountMin = 2 }
        #expect(step(&queue) == "send 0, send 1, send 2, wait")
        queue.answered(0, nil)
        #expect(step(&queue) == "claim 2")
        for key in [1, 2] { queue.answered(key, nil) }
        queue.pace.failed(now: at(0))
        queue.wake()
        #expect(step(&queue, at: 0.9) == "wait" && step(&queue, at: 1) == "claim 1")
    }

    @Test("sends nothing in a pause if the items share a lease; others are sent, and no more are claimed")
    func pauses() {
        var rules = Pace.Rules()
        rules.windowMax = 8
        var shared = queue(3, pace: rules, leaseEnd: 100)
        shared.pace.failed(asked: .seconds(10), now: at(0))
        #expect(shared.sends(now: at(9.9)).isEmpty)
        #expect(shared.sends(now: at(10)).count == 1 && shared.sends(now: at(10)).isEmpty)
        shared.answered(0, nil)
        shared.pace.accepted(now: at(11))
        #expect(shared.sends(now: at(11)).map(\.key) == [1, 2])

        var own = queue(2, pace: rules)
        own.pace.failed(asked: .seconds(10), now: at(0))
        #expect(step(&own, at: 1) == "send 0, send 1, wait")
        for key in 0..<2 { own.answered(key, nil) }
        #expect(step(&own, at: 9.9) == "wait" && step(&own, at: 10) == "claim 1")
    }

    @Test("sends nothing after the lease's end, until the lease is renewed")
    func lease() {
        var queue = queue(1, leaseEnd: 15)
        #expect(queue.sends(now: at(15)).isEmpty)
        queue.leaseEnd = at(20)
        #expect(queue.sends(now: at(19.9)).count == 1)
    }

    @Test("counts one answer for each request, and records its outcome once")
    func once() {
        var queue = queue(2)
        let isEarly = queue.answered(0, "early")
        _ = queue.sends(now: at(0))
        let answers = [queue.answered(0, "first"), queue.answered(0, "second"), queue.answered(9, "unknown")]
        #expect(!isEarly && answers == [true, false, false])
        let first = queue.takeSettlement()
        #expect(first?.outcomes == [0: "first"])
        let second = queue.takeSettlement()
        #expect(second?.outcomes == nil)
        guard let first else { return }
        queue.settled(first, now: at(0))
        // Later reports of the same settlement change nothing.
        queue.settlementFailed(first)
        queue.settled(first, now: at(9))
        #expect(queue.outcomeCount == 0 && queue.settledAt == at(0))
    }

    @Test("records together what is answered within the time, at once if it is much, and the rest when all is answered")
    func batches() {
        var queue = queue(8) {
            $0.settleCountMin = 3
            $0.settleWaitMax = .seconds(1)
        }
        _ = step(&queue)
        queue.answered(0, "a")
        #expect(!queue.needsStep && step(&queue, at: 0.9) == "wait" && step(&queue, at: 1) == "settle 0")
        _ = step(&queue, at: 1)
        for key in 1...3 { queue.answered(key, "b") }
        #expect(queue.needsStep && step(&queue, at: 1) == "settle 1 2 3")
        _ = step(&queue, at: 1)
        for key in 4...5 { queue.answered(key, "c") }
        #expect(step(&queue, at: 1) == "wait")
        for key in 6...7 { queue.answered(key, nil) }
        #expect(queue.needsStep && step(&queue, at: 1) == "settle 4 5" && queue.isIdle)
    }

    @Test("records no more with one call than it may")
    func largeBatches() {
        var queue = queue(5) { $0.settleCountMax = 2 }
        _ = step(&queue)
        for key in 0..<5 { queue.answered(key, "a") }
        var sizes: [Int] = []
        while let settlement = queue.takeSettlement(), !settlement.outcomes.isEmpty {
            sizes.append(settlement.outcomes.count)
            queue.settled(settlement, now: at(0))
        }
        #expect(sizes == [2, 2, 1])
    }

    @Test("records again what could not be recorded; a later outcome of the same item replaces the earlier one")
    func failedSettlements() {
        var queue = queue(2)
        _ = step(&queue)
        queue.answered(0, "failed", .retry(at: at(1)))
        queue.answered(1, "done")
        guard let first = queue.takeSettlement() else { return }
        _ = queue.sends(now: at(1))
        queue.answered(0, "done")
        queue.settlementFailed(first)
        let second = queue.takeSettlement()
        #expect(second?.outcomes == [0: "done", 1: "done"])
    }

    @Test("ends after its close only when all was answered and recorded; what fails then is given up")
    func closing() {
        var queue = queue(2)
        #expect(step(&queue).hasPrefix("send 0, send 1, claim"))
        queue.close()
        queue.wake()
        #expect(step(&queue) == "wait")
        // A claim that was under way.
        queue.add(Parcel(2))
        #expect(step(&queue) == "send 2, wait")
        for key in [0, 1] { queue.answered(key, "done") }
        #expect(step(&queue) == "settle 0 1" && step(&queue) == "wait")
        queue.answered(2, "refused")
        guard case .settle(let last) = queue.step(now: time(0)) else {
            Issue.record("nothing is recorded")
            return
        }
        #expect(step(&queue) == "wait")
        queue.settlementFailed(last)
        #expect(step(&queue) == "end")
    }

    @Test("records once more, while it closes, what could not be recorded before")
    func failedBefore() {
        var queue = queue(1)
        _ = step(&queue)
        queue.answered(0, "done")
        guard let first = queue.takeSettlement() else { return }
        queue.close()
        queue.settlementFailed(first)
        #expect(step(&queue) == "settle 0" && step(&queue) == "end")
    }
}
