// `parley bench changes`: how much a reader of the changes feed slows sends down.
import Domain

struct ChangesWorkload: Sendable {
    private let bench: BenchRun
    private let sends: SendWorkload
    private let adminToken: String

    init(_ bench: BenchRun) throws {
        guard let adminToken = bench.settings.adminToken else { throw BenchFailure("--admin-token is missing") }
        self.bench = bench
        self.adminToken = adminToken
        sends = SendWorkload(bench)
    }

    /// A round with a reader, and the reader's result.
    private struct Turn {
        let without: SendWorkload.Round
        let with: SendWorkload.Round
        let read: ChangesReading

        var ratio: Double { with.messagesPerS / without.messagesPerS }
    }

    /// Measures sends without and with a reader in turns, so that other load on the machine affects both. Which of the
    /// two is first alternates.
    func run() async throws -> Report {
        let settings = bench.settings
        Progress.report("creating \(settings.connectionCount) accounts and their threads")
        let (senders, _) = try await sends.stage()
        var outcome = SendOutcome()
        var turns: [Turn] = []
        var faults: [String] = []
        for number in 1...settings.roundCount {
            Progress.report("round \(number)")
            var without: SendWorkload.Round?
            if number % 2 == 1 { without = try await sends.round(senders, &outcome) }
            let before = outcome.acknowledgedCount
            let reader = try await start()
            async let reading = reader.run()
            let with: SendWorkload.Round
            do {
                with = try await sends.round(senders, &outcome)
            } catch {
                reader.finish()
                throw error
            }
            reader.finish()
            let read = try await reading
            let sent = outcome.acknowledgedCount - before
            if outcome.faults.isEmpty, read.messageCount != sent {
                faults.append("round \(number): the reader got \(read.messageCount) messages of \(sent)")
            }
            faults += read.faults.phrases
            if without == nil { without = try await sends.round(senders, &outcome) }
            if let without { turns.append(Turn(without: without, with: with, read: read)) }
        }
        var report = Report("changes")
        report.add("connections", settings.connectionCount)
        report.add("nodes", bench.endpoints.count)
        report.add("seconds", settings.seconds)
        report.add("messages_per_s_without", .decimal(orNull: median(turns.map(\.without.messagesPerS)), 0))
        report.add("messages_per_s_with", .decimal(orNull: median(turns.map(\.with.messagesPerS)), 0))
        report.add("round", .array(turns.map(describe)))
        report.add("ratio_median", .decimal(orNull: median(turns.map(\.ratio)), 2))
        for round in turns.flatMap({ [$0.without, $0.with] }) {
            report.note(round.usage.notes(messageCount: round.count))
        }
        report.faults = faults + outcome.faults.phrases
        return report
    }

    /// A reader that begins at the end of the log.
    private func start() async throws -> ChangesReader {
        let path = ChangesReader.path
        let now = try await Calls.run([Call("GET", path, token: adminToken, status: 200)], at: bench.endpoints[0])[0]
        return ChangesReader(bench.endpoints[0], token: adminToken, cursor: try now.string("cursor"))
    }

    private func describe(_ turn: Turn) -> JSONValue {
        let read = turn.read
        var members: [JSONValue.Member] = [
            .init("without", .decimal(turn.without.messagesPerS, 0)),
            .init("with", .decimal(turn.with.messagesPerS, 0)),
            .init("ratio", .decimal(turn.ratio, 2)),
            .init("feed_events", .integer(read.eventCount)), .init("feed_answers", .integer(read.answerCount)),
            .init(
                "feed_events_per_answer", .decimal(Double(read.eventCount) / Double(max(1, read.answerCount)), 1)),
        ]
        members += figures(turn.without, "_without") + figures(turn.with, "_with")
        return .object(members)
    }

    private func figures(_ round: SendWorkload.Round, _ suffix: String) -> [JSONValue.Member] {
        round.usage.figures(per: "message", round.count, messageCount: round.count, suffix: suffix)
    }
}
