// `parley bench client`: what the client library costs an app, measured in processes of their own.
import Domain
import Foundation
import Linux

struct ClientWorkload: Sendable {
    private let bench: BenchRun

    init(_ bench: BenchRun) { self.bench = bench }

    /// The results of the phases, by phase.
    private struct Results {
        var firstSync: [ClientPhaseResult] = []
        var fill = ClientPhaseResult()
        var coldStart: [ClientPhaseResult] = []
        var catchUp: [ClientPhaseResult] = []
        var send: [ClientPhaseResult] = []
        /// What the phase `send` cost the client, the nodes and PostgreSQL.
        var sendUsage: [Usage] = []
        var storeBytes = 0
        var faults: [String] = []
    }

    func run() async throws -> Report {
        let settings = bench.settings
        let stage = try await ClientStage.make(bench)
        let directory = try ScratchDirectory()
        defer { directory.remove() }
        let results = try await measure(stage, in: directory)

        var report = Report("client")
        report.add("threads", stage.plan.threadCount)
        report.add("messages_per_thread", stage.messageCount)
        report.add("text_bytes", settings.textByteCount)
        report.add("rounds", settings.roundCount)
        report.add("first_sync", figures(results.firstSync, "signed_in", "synced"))
        report.add("fill", figures([results.fill], "filled"))
        report.add("store_mb", Double(results.storeBytes) / 1e6, digits: 1)
        report.add("cold_start", figures(results.coldStart, "opened", "inbox", "timeline", "live"))
        report.add("catch_up_events", stage.eventCount)
        report.add("catch_up", figures(results.catchUp, "opened", "caught_up"))
        report.add(
            "events_per_s",
            .decimal(orNull: median(results.catchUp.compactMap { $0.rate(of: stage.eventCount) }), 0))
        report.add("send", figures(results.send))
        report.add("send_to_sent_ms", results.send.latencies.summary)
        let (usage, sentCount) = (Usage.sum(results.sendUsage), ClientPhaseRun.sendCount * settings.roundCount)
        report.add(usage.figures(per: "message", sentCount, messageCount: sentCount, prefix: "send_"))
        report.note(usage.notes(messageCount: sentCount))
        report.faults = results.faults
        return report
    }

    private func measure(_ stage: ClientStage, in directory: ScratchDirectory) async throws -> Results {
        let settings = bench.settings
        var results = Results()
        var expected = ClientPhaseResult.Inbox(
            threads: stage.plan.threadCount, heads: stage.plan.threadCount * stage.messageCount)
        try directory.write(try stage.plan.json, to: ClientPhaseRun.planName)

        func phase(_ phase: ClientPhase, store: Int) async throws -> ClientPhaseResult {
            Progress.report("client: \(phase.rawValue)")
            let result = try await ClientPhaseRun.start(phase, in: directory, store: "store\(store)")
            if result.inbox != expected {
                results.faults.append("\(phase.rawValue): the inbox has \(result.inbox), not \(expected)")
            }
            return result
        }
        for round in 1...settings.roundCount {
            results.firstSync.append(try await phase(.firstSync, store: round))
        }
        results.fill = try await phase(.fill, store: 1)
        results.storeBytes = try directory.byteCount("store1")
        for _ in 1...settings.roundCount { results.coldStart.append(try await phase(.coldStart, store: 1)) }
        for _ in 1...settings.roundCount {
            try await stage.sendEvents(bench)
            expected.heads += stage.eventCount
            results.catchUp.append(try await phase(.catchUp, store: 1))
        }
        for _ in 1...settings.roundCount {
            expected.heads += ClientPhaseRun.sendCount
            let (result, cost) = try await Observer(bench).observe { try await phase(.send, store: 1) }
            var usage = cost
            // The client's process generates the load, and not this one.
            usage.cpu.generator = result.cpuMs / 1000
            results.send.append(result)
            results.sendUsage.append(usage)
        }
        return results
    }

    /// Medians of the milliseconds from the start of the process until each mark, of the processor time and of the
    /// largest memory.
    private func figures(_ results: [ClientPhaseResult], _ marks: String...) -> JSONValue {
        let times = marks.map { mark in
            JSONValue.Member("\(mark)_ms", .decimal(orNull: median(results.compactMap { $0.marksMs[mark] }), 0))
        }
        return .object(
            times + [
                .init("cpu_ms", .decimal(orNull: median(results.map(\.cpuMs)), 0)),
                .init("peak_mb", .decimal(orNull: median(results.map(\.peakMB)), 1)),
            ])
    }
}

extension ClientPhaseResult {
    /// Events per second from the opened store until the client is live.
    fileprivate func rate(of count: Int) -> Double? {
        guard let from = marksMs["opened"], let to = marksMs["caught_up"], to > from else { return nil }
        return Double(count) * 1000 / (to - from)
    }
}

extension [ClientPhaseResult] {
    fileprivate var latencies: Latencies {
        var all = Latencies()
        for ms in flatMap(\.sendsMs) { all.record(nanoseconds: Int64(ms * 1e6)) }
        return all
    }
}

extension ScratchDirectory {
    /// The size of all files in a subdirectory.
    fileprivate func byteCount(_ name: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: file(name)).reduce(0) { sum, entry in
            let attributes = try FileManager.default.attributesOfItem(atPath: file(name) + "/" + entry)
            return sum + (attributes[.size] as? Int ?? 0)
        }
    }
}
