// `parley bench send --old-snapshot`: the cost of a backup or a forgotten transaction, which keeps vacuum from removing
// rows.
import Domain

extension SendWorkload {
    /// Each round measures once without and once with a snapshot that is held during the measurement.
    ///
    /// Between two measurements the database is vacuumed without a snapshot, so that none begins with dead rows of an
    /// earlier one, and a checkpoint is taken. The history grows from one to the next. Which of the two is first
    /// alternates, so that an even number of rounds favours neither; a single round favours the one without. Nothing is
    /// vacuumed before the first, because plans made after that would be for empty tables.
    func roundsWithOldSnapshot(
        _ conninfo: String, _ senders: [Sender], _ outcome: inout SendOutcome
    ) async throws -> [Round] {
        let snapshot = OldSnapshot(conninfo: conninfo)
        var rounds: [Round] = []
        for number in 1...bench.settings.roundCount {
            for isHeld in number % 2 == 1 ? [false, true] : [true, false] {
                if !rounds.isEmpty { try await snapshot.settle() }
                Progress.report("round \(number): \(isHeld ? "with" : "without") an old snapshot")
                if isHeld {
                    var turn = try await snapshot.held { try await round(senders, &outcome) }
                    turn.value.snapshotAge = turn.age
                    rounds.append(turn.value)
                } else {
                    rounds.append(try await round(senders, &outcome))
                }
            }
        }
        return rounds
    }

    func addOldSnapshot(_ rounds: [Round], to report: inout Report) {
        let pairs = zip(rounds.filter { $0.snapshotAge == nil }, rounds.filter { $0.snapshotAge != nil })
        let described = pairs.map { without, with in
            JSONValue.object([
                .init("without", summary(without)), .init("with", summary(with)),
                .init("ratio", .decimal(with.messagesPerS / without.messagesPerS, 2)),
            ])
        }
        report.add("round", .array(described))
        let ratios = pairs.map { without, with in with.messagesPerS / without.messagesPerS }
        report.add("ratio_median", .decimal(orNull: median(ratios), 2))
    }

    private func summary(_ round: Round) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("messages_per_s", .decimal(round.messagesPerS, 0)), .init("messages", .integer(round.count)),
            .init("p50_ms", .decimal(orNull: round.latencies.ms(50), 3)),
            .init("p99_ms", .decimal(orNull: round.latencies.ms(99), 3)),
        ]
        members += round.usage.figures(per: "message", round.count, messageCount: round.count)
        if let age = round.snapshotAge { members.append(.init("transactions_since_snapshot", .integer(age))) }
        return .object(members)
    }
}
