// `parley bench send`: how many messages a second go through HTTP, authentication, the log and back.
import Domain

struct SendWorkload: Sendable {
    let bench: BenchRun
    private let mix: SendMix

    init(_ bench: BenchRun) {
        self.bench = bench
        mix = SendMix(bench.settings)
    }

    /// Numbers of pgbench clients; the fastest counts.
    private static let baselineClients = [16, 64]

    /// The result of one round.
    struct Round {
        let latencies: Latencies
        let usage: Usage
        let count: Int
        let seconds: Double
        /// Messages a second by `baselineClients`; empty without a baseline.
        var baselines: [Double] = []
        /// Transactions that began while an old snapshot was held; nil without one.
        var snapshotAge: Int64?

        var messagesPerS: Double { Double(count) / seconds }
        var ratio: Double? { baselines.max().map { messagesPerS / $0 } }
    }

    func run() async throws -> Report {
        let settings = bench.settings
        Progress.report("creating \(mix.accountCount) accounts and \(mix.threadCount) threads")
        let (senders, threads) = try await stage()
        var outcome = SendOutcome()
        let rounds = try await rounds(senders, &outcome)
        Progress.report("reading the history")
        let history = try await ThreadHistories.read(threads, at: bench.endpoints)

        var report = Report("send")
        report.add("connections", settings.connectionCount)
        report.add("threads", mix.threadCount)
        report.add("direct_threads", (0..<mix.threadCount).filter(mix.isDirect).count)
        report.add("nodes", bench.endpoints.count)
        if let count = settings.messageCount {
            report.add("messages", count)
        } else {
            report.add("seconds", settings.seconds)
        }
        report.add("text_bytes", settings.textByteCount)
        add(rounds, to: &report)
        report.add("acknowledged", outcome.acknowledgedCount)
        let directCount = outcome.acknowledged.filter { mix.isDirect($0.key) }.values.reduce(0) { $0 + $1.count }
        report.add("direct_percent", Double(100 * directCount) / Double(outcome.acknowledgedCount), digits: 1)
        report.faults = faults(outcome, history, threads)
        return report
    }

    /// Alternates with the baseline, so that other load on the machine affects both.
    private func rounds(_ senders: [Sender], _ outcome: inout SendOutcome) async throws -> [Round] {
        let settings = bench.settings
        if settings.isOldSnapshot, let conninfo = settings.databaseURL {
            return try await roundsWithOldSnapshot(conninfo, senders, &outcome)
        }
        guard settings.isBaseline, let conninfo = settings.databaseURL else {
            return [try await round(senders, &outcome)]
        }
        let baseline = try await OneTransactionAMessage.prepare(conninfo: conninfo)
        do {
            var rounds: [Round] = []
            for number in 1...settings.roundCount {
                var baselines: [Double] = []
                for clients in Self.baselineClients {
                    let rate = try await baseline.messagesPerS(clients: clients, seconds: settings.seconds)
                    Progress.report("round \(number): pgbench with \(clients) clients: \(fixed(rate, 0)) messages/s")
                    baselines.append(rate)
                }
                var round = try await round(senders, &outcome)
                round.baselines = baselines
                rounds.append(round)
            }
            await baseline.remove()
            return rounds
        } catch {
            await baseline.remove()
            throw error
        }
    }

    private func add(_ turns: [Round], to report: inout Report) {
        // Rounds with an old snapshot are reported separately.
        let rounds = turns.filter { $0.snapshotAge == nil }
        var latencies = Latencies()
        for round in rounds { latencies.add(round.latencies) }
        let usage = Usage.sum(rounds.map(\.usage))
        let count = rounds.reduce(0) { $0 + $1.count }
        report.add("messages_per_s", .decimal(orNull: median(rounds.map(\.messagesPerS)), 0))
        report.add("answer_ms", latencies.summary)
        report.add(usage.figures(per: "message", count, messageCount: count))
        report.note(usage.notes(messageCount: count))
        if bench.settings.isOldSnapshot { addOldSnapshot(turns, to: &report) }
        guard bench.settings.isBaseline else { return }
        let described = rounds.map { round in
            JSONValue.object(
                [.init("messages_per_s", .decimal(round.messagesPerS, 0))]
                    + zip(Self.baselineClients, round.baselines).map {
                        .init("baseline_per_s_\($0)_clients", .decimal($1, 0))
                    } + [.init("ratio", .decimal(orNull: round.ratio, 2))])
        }
        report.add("round", .array(described))
        report.add("ratio_median", .decimal(orNull: median(rounds.compactMap(\.ratio)), 2))
    }

    /// Creates the users and threads.
    func stage() async throws -> ([Sender], [HistorySource]) {
        let accounts = try await bench.accounts.make(mix.accountCount)
        let members = (0..<mix.threadCount).map { mix.members(of: $0).map { accounts[$0] } }
        let direct = members.indices.filter(mix.isDirect)
        let groups = members.indices.filter { !mix.isDirect($0) }
        var ids = Array(repeating: "", count: members.count)
        for (number, id) in zip(direct, try await bench.directThreads(direct.map { (members[$0][0], members[$0][1]) }))
        {
            ids[number] = id
        }
        for (number, id) in zip(groups, try await bench.groups(groups.map { members[$0] })) { ids[number] = id }
        let sources = try ids.enumerated().map { number, id in
            guard let key = ThreadKey(id) else { throw BenchFailure("\(id) is no thread id") }
            return HistorySource(id: id, key: key, token: members[number][0].token)
        }
        let senders = (0..<mix.connectionCount).map { number in
            let targets = mix.threads(of: number / 2).map { thread in
                Sender.Target(token: members[thread][number % 2].token, thread: thread, threadID: ids[thread])
            }
            return Sender(pair: number / 2, targets: targets)
        }
        return (senders, sources)
    }

    func round(_ senders: [Sender], _ outcome: inout SendOutcome) async throws -> Round {
        let settings = bench.settings
        let meters = (0..<settings.loopCount).map { _ in Meter() }
        let acknowledged = outcome.acknowledged
        outcome.measuredCount = 0
        let observer = try await Observer(bench)
        let phases =
            if let count = settings.messageCount {
                Phases(warmUpSeconds: settings.warmUpSeconds, count: count)
            } else {
                Phases(warmUpSeconds: settings.warmUpSeconds, seconds: settings.seconds)
            }
        async let observed = observer.observe(phases)
        async let progress: Void = Progress.show("messages", meters, phases)
        try await withThrowingTaskGroup(of: SendOutcome.self) { group in
            for (number, meter) in meters.enumerated() {
                // Both senders of a thread are on one loop, which then knows all acknowledged seqs of the thread.
                let own = senders.filter { $0.pair % meters.count == number }
                guard !own.isEmpty else { continue }
                let known = acknowledged.filter { mix.pair(of: $0.key) % meters.count == number }
                group.addTask { [bench] in
                    try await onEventLoop("bench-send") { loop in
                        SendLoop(
                            loop, bench.endpoints, own, textByteCount: settings.textByteCount,
                            acknowledged: known, phases, meter
                        ).run()
                    }
                }
            }
            while let loop = try await group.next() { outcome.add(loop) }
        }
        try await progress
        let usage = try await observed
        var latencies = Latencies()
        for meter in meters { latencies.add(meter.measured) }
        return Round(
            latencies: latencies, usage: usage, count: outcome.measuredCount, seconds: phases.measuredSeconds)
    }

    /// Returns faults: acknowledged messages that the history lacks, unexpected messages, and wrong answers.
    private func faults(_ outcome: SendOutcome, _ history: ThreadHistories, _ threads: [HistorySource]) -> [String] {
        var faults = history.faults
        faults += outcome.faults.phrases
        for (number, thread) in threads.enumerated() {
            let acknowledged = outcome.acknowledged[number] ?? SeqSet()
            let head = history.heads[thread.key] ?? 0
            if acknowledged.max > head {
                faults.append("thread \(thread.id) ends at \(head), before \(acknowledged.max)")
            }
            // A message whose answer was lost may be in the history.
            if outcome.faults.isEmpty, Int64(acknowledged.count) != head {
                faults.append("thread \(thread.id) has \(head) messages, \(acknowledged.count) were acknowledged")
            }
        }
        return faults
    }
}
