// A share of the users of `parley bench mixed` on one event loop. Each polls on one connection and calls on another.
import Synchronization

/// The plan of a run, shared by the loops and the workload.
struct MixedPlan: Sendable {
    let endpoints: [Endpoint]
    let stage: MixedStage
    /// Calls per second of all loops together.
    let perSecond: Int
    let loopCount: Int
    let text: String
    let control: LoopControl
    /// One for each kind of call, by its number.
    let meters: [Meter]
    /// From the start of a send until another user's poll returns the message.
    let deliveryMeter: Meter
    let signals: MixedSignals
}

/// Signals from the loops to the workload, and back at the end.
final class MixedSignals: Sendable {
    private struct State {
        var waitingCount = 0
        var phases: Phases?
        var quietLoopCount = 0
        var heads: [ThreadKey: Int64]?
    }

    private let state = Mutex(State())

    /// Users whose poll waits.
    var waitingCount: Int { state.withLock(\.waitingCount) }
    /// It is nil until all polls wait.
    var phases: Phases? { state.withLock(\.phases) }
    /// Loops that have made their calls and received the answers.
    var quietLoopCount: Int { state.withLock(\.quietLoopCount) }
    /// The head of each thread; nil while messages are being sent.
    var heads: [ThreadKey: Int64]? { state.withLock(\.heads) }

    func pollWaits() { state.withLock { $0.waitingCount += 1 } }
    func begin(_ phases: Phases) { state.withLock { $0.phases = phases } }
    func loopIsQuiet() { state.withLock { $0.quietLoopCount += 1 } }
    func end(at heads: [ThreadKey: Int64]) { state.withLock { $0.heads = heads } }
}

struct MixedOutcome: Sendable {
    var verdict = Verdict()
    var faults = Faults()
    /// Calls that were due when no user was free.
    var skippedCount = 0

    mutating func add(_ other: MixedOutcome) {
        verdict += other.verdict
        faults.add(other.faults)
        skippedCount += other.skippedCount
    }
}

final class MixedLoop: PollObserver {
    /// Seconds for the last answers, and for the last messages to arrive.
    private static let answerMaxS = 20.0

    let loop: EventLoop
    let plan: MixedPlan
    private let number: Int
    private var callers: [MixedCaller] = []
    private var dueCount = 0
    private var outcome = MixedOutcome()
    private var seenWaiting: Set<Int> = []
    private var phases: Phases?

    init(_ loop: EventLoop, number: Int, _ plan: MixedPlan) {
        self.loop = loop
        self.number = number
        self.plan = plan
    }

    func run() -> MixedOutcome {
        for (index, person) in plan.stage.people.enumerated() where index % plan.loopCount == number {
            let poller = PolledDevice(
                loop, index: index, endpoints: plan.endpoints, token: person.account.token, settings: .init(),
                observer: self)
            for thread in person.allThreads { poller.expect(plan.stage.threads[thread].key, after: 0) }
            callers.append(MixedCaller(self, person, poller, plan.endpoints[index % plan.endpoints.count]))
            loop.schedule(at: .now + Double(callers.count / 100) * 0.01) { poller.start() }
        }
        loop.whenWoken { [unowned self] in
            if plan.control.isStopped { return loop.stop() }
            guard phases == nil, let begun = plan.signals.phases else { return }
            phases = begun
            tick(begun)
        }
        loop.run()
        for caller in callers {
            caller.poller.stop()
            caller.stop()
            outcome.verdict += caller.poller.deliveries.verdict(heads: plan.signals.heads ?? [:])
        }
        return outcome
    }

    func isMeasured(_ moment: MonotonicTime) -> Bool { phases?.isMeasured(moment) ?? false }

    func record(_ fault: String) { outcome.faults.record(fault) }

    /// Makes the calls that are due, every millisecond.
    private func tick(_ phases: Phases) {
        let now = MonotonicTime.now
        guard now < phases.end else { return finish(until: now + Self.answerMaxS) }
        let elapsed = Double(now - phases.start) / 1e9
        let due = Int(elapsed * Double(plan.perSecond) / Double(plan.loopCount)) + 1
        while dueCount < due {
            dueCount += 1
            // A user that is free. In an overloaded service no user is.
            let caller = (0..<4).lazy.compactMap { _ in self.callers.randomElement() }.first { !$0.isBusy }
            if let caller { caller.call(MixedCall.random()) } else { outcome.skippedCount += 1 }
        }
        loop.schedule(at: now + 0.001) { [unowned self] in tick(phases) }
    }

    /// Waits for the last answers, then for the last messages.
    private func finish(until deadline: MonotonicTime) {
        if MonotonicTime.now > deadline {
            record("the last answers did not arrive")
        } else if callers.contains(where: \.isBusy) {
            return loop.schedule(at: .now + 0.02) { [unowned self] in finish(until: deadline) }
        }
        plan.signals.loopIsQuiet()
        collect(until: .now + 2 * Self.answerMaxS)
    }

    private func collect(until deadline: MonotonicTime) {
        if let heads = plan.signals.heads, callers.allSatisfy({ $0.hasAll(heads) }) || MonotonicTime.now > deadline {
            return loop.stop()
        }
        loop.schedule(at: .now + 0.02) { [unowned self] in collect(until: deadline) }
    }

    // MARK: PollObserver

    func poller(_ poller: PolledDevice, saw message: SeenMessage) {
        let now = MonotonicTime.now
        let began = MonotonicTime(nanoseconds: Int64(message.note & MixedCaller.noteMask))
        plan.deliveryMeter.record(nanoseconds: now - began, isMeasured: isMeasured(began))
    }

    func poller(_ poller: PolledDevice, received outcome: PollOutcome) {
        if let fault = outcome.fault { record(fault) }
    }

    func pollerAsked(_ poller: PolledDevice) {
        if poller.isWaiting, seenWaiting.insert(poller.index).inserted { plan.signals.pollWaits() }
    }
}
