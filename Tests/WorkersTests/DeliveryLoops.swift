// What the loop does with the decisions of its queue. The test sets the clock and answers the requests.
import Synchronization
import Telemetry
import TestSupport
import Testing
import Workers

@Suite("The loop that claims, sends and records", .timeLimit(.minutes(1)))
struct DeliveryLoops {
    @Test("claims, sends, and records each outcome once, until nothing is due")
    func delivers() async throws {
        let bench = Bench(due: [1, 2, 3])
        try await bench.running {
            try await eventually("three requests") { bench.underWay == [1, 2, 3] }
            for key in [2, 1, 3] { bench.answer(key) }
            try await eventually("the outcomes") { bench.recorded.count == 3 }
            try await eventually("the end of the claims") { bench.state.withLock { $0.claims.last == [] } }
        }
        #expect(bench.recorded.sorted() == [1, 2, 3] && bench.failures.value == 0)
    }

    @Test("performs sendings side by side if each has a task of its own")
    func each() async throws {
        let bench = Bench(due: [1, 2])
        try await bench.running(eachAlone: true) {
            try await eventually("two requests") { bench.underWay == [1, 2] }
            for key in [2, 1] { bench.answer(key) }
            try await eventually("the outcomes") { bench.recorded.sorted() == [1, 2] }
        }
    }

    @Test("when it is cancelled closes the sender, waits for what is under way, and records it")
    func closes() async throws {
        for eachAlone in [false, true] {
            let bench = Bench(due: [1, 2])
            try await bench.running(eachAlone: eachAlone, closed: { for key in [1, 2] { bench.answer(key) } }) {
                try await eventually("two requests") { bench.underWay == [1, 2] }
            }
            #expect(bench.recorded.sorted() == [1, 2], "\(eachAlone)")
        }
    }

    @Test("leaves what cannot be recorded to the lease while it closes")
    func closesWithFailures() async throws {
        let bench = Bench(due: [1])
        bench.state.withLock { $0.isRecordingBroken = true }
        try await bench.running(closed: { bench.answer(1) }) {
            try await eventually("a request") { bench.underWay == [1] }
        }
        #expect(bench.recorded == [] && bench.failures.value == 1)
    }

    @Test("repeats a failed claim after the worker's time, and not before")
    func failedClaims() async throws {
        let bench = Bench(due: [1])
        bench.state.withLock { $0.isClaimingBroken = true }
        try await bench.running {
            try await eventually("a failure") { bench.failures.value == 1 && bench.clock.sleeperCount == 1 }
            bench.state.withLock { $0.isClaimingBroken = false }
            bench.clock.advance(by: .milliseconds(4_999))
            #expect(bench.clock.sleeperCount == 1 && bench.underWay == [])
            bench.clock.advance(by: .milliseconds(1))
            try await eventually("a request") { bench.underWay == [1] }
        }
        #expect(bench.lines.all.contains { $0.contains("claiming failed; retrying in 5 s") }, "\(bench.lines.all)")
    }

    @Test("records again after the worker's time what could not be recorded, and sends meanwhile")
    func failedSettlements() async throws {
        let bench = Bench(due: [1])
        bench.state.withLock { $0.isRecordingBroken = true }
        try await bench.running {
            try await eventually("a request") { bench.underWay == [1] }
            bench.answer(1)
            try await eventually("a failure") { bench.failures.value == 1 && bench.clock.sleeperCount == 1 }
            bench.state.withLock { state in
                state.isRecordingBroken = false
                state.due = [2]
            }
            bench.loop.wake()
            try await eventually("another request") { bench.underWay == [2] }
            #expect(bench.recorded == [])
            bench.clock.advance(by: .seconds(7))
            try await eventually("the outcome") { bench.recorded == [1] }
        }
        #expect(bench.lines.all.contains { $0.contains("recording failed; retrying in 7 s") }, "\(bench.lines.all)")
    }

    @Test("renews the claim of long work before it ends, and cancels the work when the claim is lost")
    func renewals() async throws {
        let clock = TestClock()
        let renewals = Counter()
        let work = Task {
            try await keepingClaim(
                renewing: .seconds(15), clock: clock.deliveryClock,
                renew: {
                    renewals.add()
                    return renewals.value < 3
                },
                {
                    // Ends only when it is cancelled.
                    await clock.deliveryClock.sleep(.seconds(1_000_000))
                    return Task.isCancelled
                })
        }
        for number in 1...3 {
            try await eventually("both sleep") { clock.sleeperCount == 2 }
            clock.advance(by: .milliseconds(14_999))
            #expect(renewals.value == number - 1)
            clock.advance(by: .milliseconds(1))
            try await eventually("a renewal") { renewals.value == number }
        }
        #expect(try await work.value == nil)
        let quick = try await keepingClaim(renewing: .seconds(15), clock: clock.deliveryClock, renew: { true }, { 7 })
        #expect(quick == 7)
    }

    @Test("keeps a wake-up that comes while it is busy")
    func wakeUps() async {
        let wakeUps = WakeUps()
        wakeUps.wake()
        wakeUps.wake()
        await wakeUps.wait()
        let waiting = Task {
            await wakeUps.wait()
            return true
        }
        // A cancelled task waits as well.
        waiting.cancel()
        wakeUps.wake()
        #expect(await waiting.value)
    }
}

/// A loop with a receiver that answers when the test says so, and a database that may fail.
private final class Bench: Sendable {
    struct State {
        var due: [Int]
        var claims: [[Int]] = []
        var underWay: Set<Int> = []
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var recorded: [Int] = []
        var isClaimingBroken = false
        var isRecordingBroken = false
    }

    private struct Fault: Error {}

    let clock = TestClock()
    let lines = LogLines()
    let failures = Counter()
    let loop: DeliveryLoop<DeliveryQueue<Parcel>>
    let state: Mutex<State>

    init(due: [Int]) {
        state = Mutex(State(due: due))
        loop = DeliveryLoop(
            DeliveryQueue(now: clock.now.instant),
            claiming: Worker("claiming", retryAfter: .seconds(5), failures: failures, logger: lines.logger),
            recording: Worker("recording", retryAfter: .seconds(7), failures: failures, logger: lines.logger),
            clock: clock.deliveryClock)
    }

    var underWay: [Int] { state.withLock { $0.underWay.sorted() } }
    var recorded: [Int] { state.withLock(\.recorded) }

    func answer(_ key: Int) {
        let waiting = state.withLock { state in
            state.underWay.remove(key)
            return state.waiting.removeValue(forKey: key)
        }
        if let waiting { waiting.resume() } else { conclude(key) }
    }

    /// Runs the loop while `body` does, and until its end.
    func running(
        eachAlone: Bool = false, closed: @escaping @Sendable () -> Void = {}, _ body: () async throws -> Void
    ) async throws {
        let running = Task {
            await loop.run(
                send: eachAlone ? .each { await self.perform($0.key) } : .together { self.begin($0.map(\.key)) },
                claim: { try self.claim($0) }, settle: { try self.settle($0) },
                close: { self.close(closed) })
        }
        try await finally(body) {
            running.cancel()
            await running.value
        }
    }

    private func begin(_ keys: [Int]) { state.withLock { $0.underWay.formUnion(keys) } }

    private func perform(_ key: Int) async {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.underWay.insert(key)
                state.waiting[key] = continuation
            }
        }
        conclude(key)
    }

    private func conclude(_ key: Int) { loop.answer(key, "done") }

    private func claim(_ limit: Int) throws {
        let claimed = try state.withLock { state in
            if state.isClaimingBroken { throw Fault() }
            defer { state.due = [] }
            state.claims.append(state.due)
            return state.due
        }
        loop.update { queue in for key in claimed { queue.add(Parcel(key)) } }
    }

    private func settle(_ settlement: DeliverySettlement<Parcel>) throws {
        try state.withLock { state in
            if state.isRecordingBroken { throw Fault() }
            state.recorded += settlement.outcomes.keys.sorted()
        }
        loop.update { $0.settled(settlement, now: clock.now.instant) }
    }

    /// What is under way is answered later, on another thread, as a client does it.
    private func close(_ closed: @escaping @Sendable () -> Void) {
        let rest = underWay
        Task {
            for _ in 0..<100 { await Task.yield() }
            closed()
            for key in rest where underWay.contains(key) { answer(key) }
        }
    }
}

/// A clock that the test moves.
private final class TestClock: Sendable {
    private struct State {
        var time = Duration.zero
        var lastID = 0
        var sleepers: [Int: (end: Duration, continuation: CheckedContinuation<Void, Never>)] = [:]
    }

    private let start = ContinuousClock.now
    private let state = Mutex(State())

    var now: DeliveryTime { DeliveryTime(instant: start + state.withLock(\.time), ms: 0) }
    var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    var deliveryClock: DeliveryClock {
        DeliveryClock(now: { self.now }, sleep: { await self.sleep($0) })
    }

    func advance(by time: Duration) {
        let ended = state.withLock { state in
            state.time += time
            let ended = state.sleepers.filter { $0.value.end <= state.time }
            for id in ended.keys { state.sleepers[id] = nil }
            return ended
        }
        for sleeper in ended.values { sleeper.continuation.resume() }
    }

    private func sleep(_ time: Duration) async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.sleepers[id] = ($0.time + time, continuation) }
                if Task.isCancelled { wake(id) }
            }
        } onCancel: {
            wake(id)
        }
    }

    private func wake(_ id: Int) {
        state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume()
    }
}
