// `parley bench mixed`: users who poll, send, read and page at the same time.
import Domain

struct MixedWorkload: Sendable {
    private static let perSecondUsual = 500

    private let bench: BenchRun

    init(_ bench: BenchRun) { self.bench = bench }

    func run() async throws -> Report {
        let settings = bench.settings
        Progress.report("creating \(settings.userCount) accounts and their threads")
        let stage = try await MixedStage.make(bench)
        let control = try LoopControl(loopCount: settings.loopCount)
        return try await withThrowingTaskGroup(of: MixedOutcome.self) { group in
            // The loops must end before the group does, whatever fails.
            defer { control.stop() }
            let plan = MixedPlan(
                endpoints: bench.endpoints, stage: stage, perSecond: settings.rate ?? Self.perSecondUsual,
                loopCount: settings.loopCount, text: String(repeating: "x", count: settings.textByteCount),
                control: control, meters: MixedCall.allCases.map { _ in Meter() }, deliveryMeter: Meter(),
                signals: MixedSignals())
            for number in 0..<settings.loopCount {
                group.addTask {
                    try await onEventLoop("bench-mixed", waker: control.waker(number)) { loop in
                        MixedLoop(loop, number: number, plan).run()
                    }
                }
            }
            let (usage, faults) = try await play(plan)
            var outcome = MixedOutcome()
            while let loop = try await group.next() { outcome.add(loop) }
            var report = report(plan, outcome, usage)
            report.faults += faults
            return report
        }
    }

    /// Begins when all polls wait. At the end it passes the heads of the threads to the loops, which wait for the last
    /// messages.
    private func play(_ plan: MixedPlan) async throws -> (Usage, faults: [String]) {
        let settings = bench.settings
        try await poll("a waiting poll of every user", within: 120) {
            plan.signals.waitingCount == plan.stage.people.count
        }
        let observer = try await Observer(bench)
        let phases = Phases(warmUpSeconds: settings.warmUpSeconds, seconds: settings.seconds)
        plan.signals.begin(phases)
        plan.control.go()
        async let observed = observer.observe(phases)
        try await Progress.show("calls", plan.meters, phases)
        let usage = try await observed
        try await poll("the last answers", within: 60) { plan.signals.quietLoopCount == plan.loopCount }
        Progress.report("reading the histories")
        let history = try await ThreadHistories.read(plan.stage.historySources, at: plan.endpoints)
        plan.signals.end(at: history.heads)
        return (usage, history.faults)
    }

    private func report(_ plan: MixedPlan, _ outcome: MixedOutcome, _ usage: Usage) -> Report {
        var report = Report("mixed")
        report.add("users", plan.stage.people.count)
        report.add("threads", plan.stage.threads.count)
        report.add("nodes", plan.endpoints.count)
        report.add("seconds", bench.settings.seconds)
        let callCount = plan.meters.reduce(0) { $0 + $1.measured.count }
        report.add("calls_per_s", Double(callCount) / Double(bench.settings.seconds), digits: 0)
        report.add("calls_skipped", outcome.skippedCount)
        report.add(
            "calls",
            .object(MixedCall.allCases.map { .init($0.name, .integer(plan.meters[$0.rawValue].measured.count)) }))
        for call in MixedCall.allCases {
            report.add("\(call.name)_ms", plan.meters[call.rawValue].measured.summary)
        }
        report.add("deliveries", plan.deliveryMeter.measured.count)
        report.add("send_to_poll_ms", plan.deliveryMeter.measured.summary)
        report.add("lost", outcome.verdict.lost)
        report.add("doubled", outcome.verdict.doubled)
        report.add("out_of_order", outcome.verdict.outOfOrder)
        let messageCount = plan.meters[MixedCall.send.rawValue].measured.count
        report.add(usage.figures(per: "call", callCount, messageCount: messageCount))
        report.note(usage.notes(messageCount: messageCount))
        report.faults = outcome.faults.phrases
        if !outcome.verdict.isGood { report.faults.append(outcome.verdict.description) }
        return report
    }
}
