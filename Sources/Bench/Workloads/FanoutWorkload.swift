// `parley bench fanout`: how long until the last of a room's waiting members has a message.
import Domain

struct FanoutWorkload: Sendable {
    private static let perSecondUsual = 1
    /// Seconds for the last members, after the last message.
    private static let patience = 15.0

    private let bench: BenchRun

    init(_ bench: BenchRun) { self.bench = bench }

    /// One server's turn.
    private struct Turn {
        var figures = FanoutFigures()
        var cpu = CPUTimes(generator: 0)
        /// To members.
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
            rooms.append(try await measure(memberCount, &report.faults))
        }
        report.add("rooms", .array(rooms))
        return report
    }

    private var messageCount: Int { bench.settings.seconds * perSecond + 1 }
    private var perSecond: Int { bench.settings.rate ?? Self.perSecondUsual }

    /// One size of room, in as many rounds as there are.
    private func measure(_ memberCount: Int, _ faults: inout [String]) async throws -> JSONValue {
        Progress.say("making a room of \(memberCount)")
        var room = try await stage(memberCount)
        let isBaseline = bench.settings.isBaseline
        let nchan = isBaseline ? try await NchanServer.start() : nil
        do {
            var turns: [(parley: Turn, nchan: Turn?)] = []
            for round in 1...(isBaseline ? bench.settings.roundCount : 1) {
                let parley = try await turn("Parley", .parley(room), memberCount, pids: bench.settings.serverPIDs) {
                    try await NodeMetrics.read(bench.endpoints)["parley_polls_waiting"].map { Int($0) } ?? memberCount
                }
                room = room.advanced(by: messageCount)
                var other: Turn?
                if let nchan {
                    let pids = Processes.children(of: nchan.pid)
                    other = try await turn(
                        "nchan", .nchan(nchan.endpoint, channel: "round\(round)"), memberCount, pids: pids
                    ) {
                        try await nchan.subscriberCount()
                    }
                }
                turns.append((parley, other))
                faults += parley.faults + (other?.faults ?? [])
            }
            await nchan?.stop()
            return describe(memberCount, turns)
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

    /// - Parameter waitingCount: how many wait, as the server says.
    private func turn(
        _ name: String, _ target: FanoutTarget, _ memberCount: Int, pids: [Int],
        waitingCount: @escaping @Sendable () async throws -> Int
    ) async throws -> Turn {
        let settings = bench.settings
        let plan = FanoutPlan(
            memberCount: memberCount, messageCount: messageCount, perSecond: perSecond,
            text: String(repeating: "x", count: settings.textByteCount), loopCount: settings.loopCount)
        let control = try LaneControl(laneCount: plan.loopCount)
        let recorder = FanoutRecorder(memberCount: memberCount)
        return try await withThrowingTaskGroup(of: FanoutOutcome.self) { group in
            // Whatever goes wrong, the loops must end before the group does.
            defer { control.stop() }
            for number in 0..<plan.loopCount {
                group.addTask {
                    try await onEventLoop("bench-fanout", waker: control.waker(number)) { loop in
                        FanoutLane(loop, number: number, target, plan, control, recorder).run()
                    }
                }
            }
            try await poll("\(memberCount) waiting members of \(name)", within: 60) {
                try await waitingCount() >= memberCount
            }
            let before = try CPUTimes.now(serverPIDs: pids, postgresPID: settings.postgresPID)
            control.go()
            try await show(name, recorder, plan)
            var turn = Turn()
            turn.cpu = try CPUTimes.now(serverPIDs: pids, postgresPID: settings.postgresPID) - before
            control.stop()
            while let outcome = try await group.next() {
                turn.verdict += outcome.verdict
                turn.faults += outcome.faults.phrases
            }
            turn.figures = recorder.figures
            let complete = recorder.completeCount
            turn.deliveryCount = plan.messageCount * memberCount
            if complete < plan.messageCount - 1 {
                turn.faults.append("\(name): of \(plan.messageCount - 1) messages \(complete) came to all")
            }
            if !turn.verdict.isGood { turn.faults.append(turn.verdict.description) }
            return turn
        }
    }

    /// Shows how it goes until everybody has everything, or the time for that is over.
    private func show(_ name: String, _ recorder: FanoutRecorder, _ plan: FanoutPlan) async throws {
        let end = MonotonicTime.now + Double(plan.messageCount) / Double(plan.perSecond) + Self.patience
        var lineAt = MonotonicTime.now + 1
        while recorder.completeCount < plan.messageCount - 1, MonotonicTime.now < end {
            try await Task.sleep(for: .milliseconds(100))
            guard MonotonicTime.now >= lineAt else { continue }
            lineAt = lineAt + 1
            let done = recorder.completeCount
            let last = recorder.lastMs.map { fixed($0, 2) + " ms" } ?? "none yet"
            Progress.say("\(name): \(done) of \(plan.messageCount - 1) messages came to all, the last after \(last)")
        }
    }

    private func describe(_ memberCount: Int, _ turns: [(parley: Turn, nchan: Turn?)]) -> JSONValue {
        var members: [JSONValue.Member] = [.init("members", .integer(memberCount))]
        members += describe("parley", turns.map(\.parley))
        let nchan = turns.compactMap(\.nchan)
        guard !nchan.isEmpty else { return .object(members) }
        members += describe("nchan", nchan)
        let ratios = zip(turns, nchan).compactMap { turn, nchan -> Double? in
            guard let own = turn.parley.figures.last.ms(50), let other = nchan.figures.last.ms(50) else { return nil }
            return own / other
        }
        members.append(.init("ratio_of_last_ms_p50_by_round", .array(ratios.map { .decimal($0, 2) })))
        members.append(.init("ratio_median", .decimal(orNull: median(ratios), 2)))
        return .object(members)
    }

    private func describe(_ name: String, _ turns: [Turn]) -> [JSONValue.Member] {
        var last = Latencies()
        var middle = Latencies()
        var all = Latencies()
        var cpu = CPUTimes(generator: 0)
        for turn in turns {
            last.add(turn.figures.last)
            middle.add(turn.figures.middle)
            all.add(turn.figures.all)
            cpu = cpu + turn.cpu
        }
        let deliveries = turns.reduce(0) { $0 + $1.deliveryCount }
        return [
            .init(name + "_last_member_ms", last.summary), .init(name + "_median_member_ms", middle.summary),
            .init(name + "_member_ms", all.summary), .init(name + "_cpu_us_per_delivery", cpu.micros(per: deliveries)),
        ]
    }
}

extension ParleyRoom {
    func advanced(by count: Int) -> ParleyRoom {
        ParleyRoom(endpoints: endpoints, id: id, key: key, sender: sender, members: members, head: head + Int64(count))
    }
}
