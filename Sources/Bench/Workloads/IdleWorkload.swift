// `parley bench idle`: what many waiting polls cost a server while nothing happens.
import Domain

struct IdleWorkload: Sendable {
    /// Without --database there are few accounts: registering one takes 75 ms of a core.
    private static let registeredCount = 100
    /// The most polls of one session that a node lets wait (PARLEY_SESSION_POLLS_MAX).
    private static let pollCountMaxPerSession = 8
    /// Seconds for the server to settle after the polls were opened: it returns buffers and publishes presence.
    private static let settling = 10.0

    private let bench: BenchRun

    init(_ bench: BenchRun) { self.bench = bench }

    private struct Memory {
        var rssKB = 0
        var pssKB = 0

        /// The memory of all named processes.
        static func now(_ pids: [Int]) throws -> Memory {
            try pids.reduce(into: Memory()) { sum, pid in
                guard let memory = Processes.memoryKB(pid) else {
                    throw BenchFailure("cannot read the memory of process \(pid)")
                }
                sum.rssKB += memory.rss
                sum.pssKB += memory.pss
            }
        }
    }

    func run() async throws -> Report {
        let settings = bench.settings
        let members = try await stage()
        let before = try Memory.now(settings.serverPIDs)
        var polling = PolledDevice.Settings()
        // Otherwise all polls would end at the same time, 55 s from now.
        polling.spreadsFirstWait = true
        let swarms = try (0..<settings.loopCount).map { number in
            let own = stride(from: number, to: members.count, by: settings.loopCount).map { members[$0] }
            return try PollSwarm(urls: settings.urls, members: own, settings: polling)
        }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            defer { for swarm in swarms { swarm.stop() } }
            for swarm in swarms { group.addTask { _ = try await swarm.run() } }
            Progress.report("opening \(members.count) polls")
            let opening = MonotonicTime.now
            for swarm in swarms { try await swarm.waitUntilWaiting(within: .seconds(120)) }
            let openingS = Double(MonotonicTime.now - opening) / 1e9
            try await Progress.sleep(until: .now + Self.settling)
            let after = try Memory.now(settings.serverPIDs)
            let (period, usage) = try await Observer(bench).observe {
                let (before, from) = (counts(swarms), MonotonicTime.now)
                try await show(swarms, until: from + Double(settings.seconds))
                return (counts: counts(swarms), before: before, seconds: Double(MonotonicTime.now - from) / 1e9)
            }
            let renewedCount = period.counts.answers - period.before.answers
            let end = try Memory.now(settings.serverPIDs)

            var report = Report("idle")
            report.add("polls", members.count)
            report.add("users", Set(members.map(\.token)).count)
            report.add("nodes", bench.endpoints.count)
            report.add("seconds", settings.seconds)
            report.add("opening_s", openingS, digits: 2)
            if !settings.serverPIDs.isEmpty { add(before, after, end, members.count, to: &report) }
            report.add("cpu_percent_of_a_core", usage.cpu.percent(of: period.seconds))
            report.add("polls_renewed", renewedCount)
            report.add(usage.figures(per: "renewed_poll", renewedCount, messageCount: nil))
            report.add("reconnects", period.counts.reconnects)
            report.note(usage.notes(messageCount: nil))
            report.faults = faults(period.counts, members.count)
            return report
        }
    }

    /// Accounts in pairs, each pair with a direct thread, because an account without threads would be unusually cheap.
    private func stage() async throws -> [PollSwarm.Member] {
        let pollCount = bench.settings.pollCount
        let fewest = (pollCount + Self.pollCountMaxPerSession - 1) / Self.pollCountMaxPerSession
        let userCount =
            bench.settings.databaseURL == nil ? max(fewest, min(pollCount, Self.registeredCount)) : pollCount
        Progress.report("creating \(userCount) accounts")
        let accounts = try await bench.accounts.make(userCount)
        let pairs = stride(from: 0, to: userCount - 1, by: 2).map { (accounts[$0], accounts[$0 + 1]) }
        _ = try await bench.directThreads(pairs)
        return (0..<pollCount).map { PollSwarm.Member(token: accounts[$0 % userCount].token) }
    }

    private func show(_ swarms: [PollSwarm], until end: MonotonicTime) async throws {
        while MonotonicTime.now < end {
            try await Progress.sleep(until: min(.now + 1, end))
            let counts = counts(swarms)
            Progress.report("\(counts.waiting) polls wait, \(counts.answers) answers, \(counts.reconnects) reconnects")
        }
    }

    private func counts(_ swarms: [PollSwarm]) -> PollSwarm.Counts {
        swarms.map(\.counts).reduce(into: PollSwarm.Counts()) { $0.add($1) }
    }

    private func add(_ before: Memory, _ after: Memory, _ end: Memory, _ count: Int, to report: inout Report) {
        func kB(_ memory: Memory) -> JSONValue {
            .object([.init("rss", .integer(memory.rssKB)), .init("pss", .integer(memory.pssKB))])
        }
        func perPoll(_ memory: Memory) -> JSONValue {
            .object([
                .init("rss", .decimal(Double(memory.rssKB - before.rssKB) / Double(count), 2)),
                .init("pss", .decimal(Double(memory.pssKB - before.pssKB) / Double(count), 2)),
            ])
        }
        report.add("server_kib_before", kB(before))
        report.add("server_kib_waiting", kB(after))
        report.add("kib_per_poll", perPoll(after))
        report.add("kib_per_poll_at_the_end", perPoll(end))
    }

    private func faults(_ counts: PollSwarm.Counts, _ pollCount: Int) -> [String] {
        var faults = counts.refused.sorted { $0.key < $1.key }.map { "\($0.value) polls received status \($0.key)" }
        if counts.failures > 0 {
            faults.append("\(counts.failures) polls failed; last failure: \(counts.lastFailure ?? "")")
        }
        if counts.waiting < pollCount { faults.append("\(pollCount - counts.waiting) polls do not wait") }
        return faults
    }
}
