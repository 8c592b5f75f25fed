// `parley bench latency`: from the start of a send until the other member's poll returns the message.
import Domain
import Linux

struct LatencyWorkload: Sendable {
    private static let perSecondUsual = 50

    private let bench: BenchRun

    init(_ bench: BenchRun) { self.bench = bench }

    func run() async throws -> Report {
        let settings = bench.settings
        let rate = settings.rate ?? Self.perSecondUsual
        let accounts = try await bench.accounts.make(2)
        let id = try await bench.directThreads([(accounts[0], accounts[1])])[0]
        guard let key = ThreadKey(id), let last = bench.endpoints.last else { throw BenchFailure("no thread") }
        let plan = LatencyPlan(
            sender: accounts[0], poller: accounts[1], threadID: id, key: key, sendsTo: bench.endpoints[0],
            pollsFrom: last, warmUpCount: settings.warmUpSeconds * rate, count: settings.seconds * rate,
            perSecond: rate,
            text: String(repeating: "x", count: settings.textByteCount))
        let (toPoll, toAnswer) = (Meter(), Meter())
        let observer = try await Observer(bench)
        let phases = Phases(warmUpSeconds: settings.warmUpSeconds, seconds: settings.seconds)
        async let observed = observer.observe(phases)
        async let progress: Void = Progress.show("messages", [toPoll], phases)
        let outcome = try await onEventLoop("bench-latency") { loop in
            LatencyLoop(loop, plan, toPoll: toPoll, toAnswer: toAnswer).run()
        }
        try await progress
        let usage = try await observed

        var report = Report("latency")
        report.add("nodes", bench.endpoints.count)
        report.add("messages", plan.count)
        report.add("messages_per_s", rate)
        report.add("text_bytes", settings.textByteCount)
        report.add("send_to_poll_ms", toPoll.measured.summary)
        report.add("send_to_answer_ms", toAnswer.measured.summary)
        report.add("lost", outcome.verdict.lost)
        report.add("doubled", outcome.verdict.doubled)
        report.add("out_of_order", outcome.verdict.outOfOrder)
        report.add("polls", outcome.pollCount)
        report.add(usage.figures(per: "message", plan.count, messageCount: plan.count))
        report.note(usage.notes(messageCount: plan.count))
        report.faults = outcome.faults.phrases
        if !outcome.verdict.isGood { report.faults.append(outcome.verdict.description) }
        return report
    }
}

struct LatencyPlan: Sendable {
    let sender: Account
    let poller: Account
    let threadID: String
    let key: ThreadKey
    let sendsTo: Endpoint
    let pollsFrom: Endpoint
    /// Messages sent first and not measured.
    let warmUpCount: Int
    let count: Int
    let perSecond: Int
    let text: String
}

struct LatencyOutcome: Sendable {
    var verdict = Verdict()
    var pollCount = 0
    var faults = Faults()
}

/// Sender and poller on one event loop, so that both read one clock and nothing is passed between threads.
private final class LatencyLoop: PollObserver {
    /// Seconds that the last messages have to arrive.
    private static let answerMaxS = 15.0

    private let loop: EventLoop
    private let plan: LatencyPlan
    private let toPoll: Meter
    private let toAnswer: Meter
    /// By the message's number, from 0. Its seq is one more, because the thread is new.
    private var began: [MonotonicTime] = []
    private var arrivedCount = 0
    private var answeredCount = 0
    private var outcome = LatencyOutcome()
    private var publisher: Publisher?

    init(_ loop: EventLoop, _ plan: LatencyPlan, toPoll: Meter, toAnswer: Meter) {
        self.loop = loop
        self.plan = plan
        self.toPoll = toPoll
        self.toAnswer = toAnswer
    }

    private var totalCount: Int { plan.warmUpCount + plan.count }

    func run() -> LatencyOutcome {
        let poller = PolledDevice(
            loop, index: 0, endpoints: [plan.pollsFrom], token: plan.poller.token, settings: .init(), observer: self)
        poller.expect(plan.key, after: 0)
        poller.start()
        let seconds = Double(totalCount) / Double(plan.perSecond)
        loop.schedule(at: .now + seconds + Self.answerMaxS) { [loop] in loop.stop() }
        loop.run()
        poller.stop()
        if let publisher {
            publisher.stop()
            outcome.faults.add(publisher.faults)
        }
        outcome.verdict = poller.deliveries.verdict(heads: [plan.key: Int64(totalCount)])
        return outcome
    }

    private func publish() {
        let request = sendRequest(plan.text, to: plan.threadID, at: plan.sendsTo, token: plan.sender.token)
        let publisher = Publisher(
            loop, plan.sendsTo, count: totalCount, perSecond: plan.perSecond, request: { _ in request },
            began: { [unowned self] _, moment in began.append(moment) },
            answered: { [unowned self] number, answer in
                answeredCount += 1
                defer { stopWhenDone() }
                toAnswer.record(nanoseconds: .now - began[number], isMeasured: number >= plan.warmUpCount)
                try answer.checkSent(as: Int64(number) + 1)
            })
        self.publisher = publisher
        publisher.start()
    }

    private func stopWhenDone() {
        if arrivedCount == totalCount, answeredCount == totalCount { loop.stop() }
    }

    // MARK: PollObserver

    func poller(_ poller: PolledDevice, saw message: SeenMessage) {
        let now = MonotonicTime.now
        let number = Int(message.seq) - 1
        guard message.thread == plan.key, began.indices.contains(number) else {
            outcome.faults.record("received a message that was not sent")
            return
        }
        arrivedCount += 1
        toPoll.record(nanoseconds: now - began[number], isMeasured: number >= plan.warmUpCount)
        stopWhenDone()
    }

    func poller(_ poller: PolledDevice, received pollOutcome: PollOutcome) {
        if let fault = pollOutcome.fault { outcome.faults.record(fault) } else { outcome.pollCount += 1 }
    }

    /// The first poll that may wait lets the sender begin.
    func pollerAsked(_ poller: PolledDevice) {
        if poller.isWaiting, publisher == nil { publish() }
    }
}
