// `parley bench send`: how many messages a second go through HTTP, authentication, the log and back.
import Domain

struct SendWorkload: Sendable {
    let bench: BenchRun

    init(_ bench: BenchRun) { self.bench = bench }

    /// Numbers of pgbench clients; the fastest counts.
    private static let baselineClients = [16, 64]

    /// The result of one round.
    struct Round {
        let latencies: Latencies
        let cpu: CPUTimes
        let count: Int
        let seconds: Double
        let batching: Batching
        /// Messages a second by `baselineClients`; empty without a baseline.
        var baselines: [Double] = []
        /// Transactions that began while an old snapshot was held; nil without one.
        var snapshotAge: Int64?

        var messagesPerS: Double { Double(count) / seconds }
        var ratio: Double? { baselines.max().map { messagesPerS / $0 } }
    }

    func run() async throws -> Report {
        let settings = bench.settings
        Progress.report("creating \(settings.connectionCount) accounts and their threads")
        let (senders, threads) = try await stage()
        var outcome = SendOutcome()
        let rounds = try await rounds(senders, &outcome)
        Progress.report("reading the history")
        let history = try await ThreadHistories.read(threads, at: bench.endpoints)

        var report = Report("send")
        report.add("connections", settings.connectionCount)
        report.add("nodes", bench.endpoints.count)
        if let count = settings.messageCount {
            report.add("messages", count)
        } else {
            report.add("seconds", settings.seconds)
        }
        report.add("text_bytes", settings.textByteCount)
        add(rounds, to: &report)
        report.add("acknowledged", outcome.acknowledged.values.reduce(0) { $0 + $1.count })
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
        var cpu = CPUTimes(generator: 0)
        for round in rounds {
            latencies.add(round.latencies)
            cpu = cpu + round.cpu
        }
        report.add("messages_per_s", .decimal(orNull: median(rounds.map(\.messagesPerS)), 0))
        report.add("answer_ms", latencies.summary)
        report.add("cpu_us_per_message", cpu.micros(per: max(1, rounds.reduce(0) { $0 + $1.count })))
        if let last = rounds.last { report.add("batch_mean", last.batching.summary) }
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

    /// Creates pairs of users, each with a direct thread.
    func stage() async throws -> ([Sender], [HistorySource]) {
        let accounts = try await bench.accounts.make(bench.settings.connectionCount)
        let pairs = stride(from: 0, to: accounts.count, by: 2).map { (accounts[$0], accounts[$0 + 1]) }
        let ids = try await bench.directThreads(pairs)
        var senders: [Sender] = []
        var threads: [HistorySource] = []
        for (number, (pair, id)) in zip(pairs, ids).enumerated() {
            guard let key = ThreadKey(id) else { throw BenchFailure("\(id) is no thread id") }
            threads.append(HistorySource(id: id, key: key, token: pair.0.token))
            senders += [pair.0, pair.1].map { Sender(token: $0.token, thread: number, threadID: id) }
        }
        return (senders, threads)
    }

    func round(_ senders: [Sender], _ outcome: inout SendOutcome) async throws -> Round {
        let settings = bench.settings
        let meters = (0..<settings.loopCount).map { _ in Meter() }
        let acknowledged = outcome.acknowledged
        outcome.measuredCount = 0
        let phases =
            if let count = settings.messageCount {
                Phases(warmUpSeconds: settings.warmUpSeconds, count: count)
            } else {
                Phases(warmUpSeconds: settings.warmUpSeconds, seconds: settings.seconds)
            }
        async let observed = bench.observe(phases)
        async let progress: Void = Progress.show("messages", meters, phases)
        try await withThrowingTaskGroup(of: SendOutcome.self) { group in
            for (number, meter) in meters.enumerated() {
                // Both senders of a thread are on one loop, which then knows all acknowledged seqs of the thread.
                let own = senders.filter { $0.thread % meters.count == number }
                guard !own.isEmpty else { continue }
                let known = acknowledged.filter { $0.key % meters.count == number }
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
        let observation = try await observed
        var latencies = Latencies()
        for meter in meters { latencies.add(meter.measured) }
        return Round(
            latencies: latencies, cpu: observation.cpu, count: outcome.measuredCount,
            seconds: phases.measuredSeconds, batching: observation.batching)
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
