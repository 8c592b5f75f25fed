// `parley bench fanout`: how long until the last of a room's waiting members has a message.
import Domain

struct FanoutWorkload: Sendable {
    private static let perSecondUsual = 1
    /// Seconds that the last members have, after the last message.
    private static let answerMaxS = 15.0

    private let bench: BenchRun

    init(_ bench: BenchRun) { self.bench = bench }

    /// The measurement of one server.
    private struct Round {
        var latencies = FanoutLatencies()
        var usage = Usage(cpu: CPUTimes(generator: 0))
        var messageCount = 0
        /// Deliveries to members.
        var deliveryCount = 0
        var verdict = Verdict()
        var faults: [String] = []
    }

    func run() async throws -> Report {
        var report = Report("fanout")
        report.add("nodes", bench.endpoints.count)
        report.add("messages", messageCount - 1)
        report.add("text_bytes", bench.settings.textByteCount)
        var rooms: [JSONValue] = []
        for memberCount in bench.settings.memberCounts {
            rooms.append(try await measure(memberCount, &report))
        }
        report.add("rooms", .array(rooms))
        return report
    }

    private var messageCount: Int { bench.settings.seconds * perSecond + 1 }
    private var perSecond: Int { bench.settings.rate ?? Self.perSecondUsual }

    /// Measures one size of room in `roundCount` rounds.
    private func measure(_ memberCount: Int, _ report: inout Report) async throws -> JSONValue {
        Progress.report("creating a room with \(memberCount) members")
        var room = try await stage(memberCount)
        let isBaseline = bench.settings.isBaseline
        let nchan = isBaseline ? try await NchanServer.start() : nil
        do {
            var rounds: [(parley: Round, nchan: Round?)] = []
            for round in 1...(isBaseline ? bench.settings.roundCount : 1) {
                let parley = try await measure("Parley", .parley(room), memberCount) {
                    try await NodeMetrics.read(bench.endpoints)["parley_polls_waiting"].map { Int($0) } ?? memberCount
                }
                room = room.advanced(by: messageCount)
                var other: Round?
                if let nchan {
                    let pids = Processes.children(of: nchan.pid)
                    other = try await measure(
                        "nchan", .nchan(nchan.endpoint, channel: "round\(round)"), memberCount, baseline: pids
                    ) {
                        try await nchan.subscriberCount()
                    }
                }
                rounds.append((parley, other))
                report.faults += parley.faults + (other?.faults ?? [])
            }
            await nchan?.stop()
            let parley = rounds.map(\.parley)
            report.note(
                Usage.sum(parley.map(\.usage)).notes(messageCount: parley.reduce(0) { $0 + $1.messageCount }))
            return describe(memberCount, rounds)
        } catch {
            await nchan?.stop()
            throw error
        }
    }

    private func stage(_ memberCount: Int) async throws -> ParleyRoom {
        let accounts = try await bench.accounts.make(memberCount + 1)
        let id = try await bench.room(of: accounts)
        guard let key = ThreadKey(id) else { throw BenchFailure("\(id) is no thread id") }
        return ParleyRoom(
            endpoints: bench.endpoints, id: id, key: key, sender: accounts[0], members: Array(accounts.dropFirst()),
            head: 0)
    }

    /// - Parameters:
    ///   - baseline: the processes of nchan; nil for Parley.
    ///   - waitingCount: how many members wait, as the server reports.
    private func measure(
        _ name: String, _ target: FanoutTarget, _ memberCount: Int, baseline: [Int]? = nil,
        waitingCount: @escaping @Sendable () async throws -> Int
    ) async throws -> Round {
        let settings = bench.settings
        let plan = FanoutPlan(
            memberCount: memberCount, messageCount: messageCount, perSecond: perSecond,
            text: String(repeating: "x", count: settings.textByteCount), loopCount: settings.loopCount)
        let control = try LoopControl(loopCount: plan.loopCount)
        let recorder = FanoutRecorder(memberCount: memberCount)
        return try await withThrowingTaskGroup(of: FanoutOutcome.self) { group in
            // The loops must end before the group does, whatever fails.
            defer { control.stop() }
            for number in 0..<plan.loopCount {
                group.addTask {
                    try await onEventLoop("bench-fanout", waker: control.waker(number)) { loop in
                        FanoutLoop(loop, number: number, target, plan, control, recorder).run()
                    }
                }
            }
            try await poll("\(memberCount) waiting members of \(name)", within: 60) {
                try await waitingCount() >= memberCount
            }
            var round = Round()
            round.usage = try await Observer(bench, baseline: baseline).observe {
                control.go()
                try await show(name, recorder, plan)
            }.usage
            control.stop()
            while let outcome = try await group.next() {
                round.verdict += outcome.verdict
                round.faults += outcome.faults.phrases
            }
            round.latencies = recorder.latencies
            let complete = recorder.completeCount
            round.messageCount = plan.messageCount
            round.deliveryCount = plan.messageCount * memberCount
            if complete < plan.messageCount - 1 {
                round.faults.append("\(name): of \(plan.messageCount - 1) messages, \(complete) reached all members")
            }
            if !round.verdict.isGood { round.faults.append(round.verdict.description) }
            return round
        }
    }

    /// Reports progress until all members have all messages, or the time is over.
    private func show(_ name: String, _ recorder: FanoutRecorder, _ plan: FanoutPlan) async throws {
        let end = MonotonicTime.now + Double(plan.messageCount) / Double(plan.perSecond) + Self.answerMaxS
        var lineAt = MonotonicTime.now + 1
        while recorder.completeCount < plan.messageCount - 1, MonotonicTime.now < end {
            try await Task.sleep(for: .milliseconds(100))
            guard MonotonicTime.now >= lineAt else { continue }
            lineAt = lineAt + 1
            let done = recorder.completeCount
            let last = recorder.lastMs.map { fixed($0, 2) + " ms" } ?? "none yet"
            Progress.report(
                "\(name): \(done) of \(plan.messageCount - 1) messages reached all members; last member of the latest: \(last)"
            )
        }
    }

    private func describe(_ memberCount: Int, _ rounds: [(parley: Round, nchan: Round?)]) -> JSONValue {
        var members: [JSONValue.Member] = [.init("members", .integer(memberCount))]
        members += describe("parley", rounds.map(\.parley))
        let nchan = rounds.compactMap(\.nchan)
        guard !nchan.isEmpty else { return .object(members) }
        members += describe("nchan", nchan)
        let ratios = zip(rounds, nchan).compactMap { round, nchan -> Double? in
            guard let own = round.parley.latencies.last.ms(50), let other = nchan.latencies.last.ms(50) else {
                return nil
            }
            return own / other
        }
        members.append(.init("ratio_of_last_ms_p50_by_round", .array(ratios.map { .decimal($0, 2) })))
        members.append(.init("ratio_median", .decimal(orNull: median(ratios), 2)))
        return .object(members)
    }

    private func describe(_ name: String, _ rounds: [Round]) -> [JSONValue.Member] {
        var last = Latencies()
        var middle = Latencies()
        var all = Latencies()
        for round in rounds {
            last.add(round.latencies.last)
            middle.add(round.latencies.middle)
            all.add(round.latencies.all)
        }
        let deliveries = rounds.reduce(0) { $0 + $1.deliveryCount }
        return [
            .init(name + "_last_member_ms", last.summary), .init(name + "_median_member_ms", middle.summary),
            .init(name + "_member_ms", all.summary),
        ]
            + Usage.sum(rounds.map(\.usage)).figures(
                per: "delivery", deliveries, messageCount: rounds.reduce(0) { $0 + $1.messageCount },
                prefix: name + "_")
    }
}

extension ParleyRoom {
    func advanced(by count: Int) -> ParleyRoom {
        ParleyRoom(endpoints: endpoints, id: id, key: key, sender: sender, members: members, head: head + Int64(count))
    }
}
