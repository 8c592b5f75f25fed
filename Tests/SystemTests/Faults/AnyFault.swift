// Random faults at random times, repeatable by seed: 20 s with the other tests, minutes by `make chaos`.

import Foundation
import TestSupport
import Testing

/// The settings of `make chaos`, from the environment.
enum Chaos {
    private static let environment = ProcessInfo.processInfo.environment

    /// Nil for a value that cannot be parsed.
    static let minutes: Double? = environment["CHAOS_MINUTES"].map { Double($0) } ?? 1.0 / 3
    /// Includes time for set-up and checks. No other test of a fault takes as long.
    static var minutesMax: Int { Int(minutes ?? 0) + 5 }
}

extension SystemTests.Faults {
    @Test("chaos: random faults at random times, several at once, by seed")
    func chaos() async throws {
        let minutes = try #require(Chaos.minutes, "CHAOS_MINUTES is no number")
        let seed = Seed.fresh("chaos")
        let length = Duration.seconds(minutes * 60)
        ChaosTally.say("for \(length), PARLEY_SEED=\(seed)")
        let stage = try await ChaosStage.build(on: try await TestCluster.own())
        let tally = ChaosTally()
        // Slow enough to keep all results in memory, fast enough for several messages at any moment.
        let plan = Traffic.Plan(
            wandererCount: 2, limit: length + .seconds(180), pause: .milliseconds(10))
        let outcome = try await Traffic.run(through: stage.nodes.addresses, plan) { traffic in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await tally.report(traffic, every: .seconds(5)) }
                let steps = ChaosPlan(seed: seed, nodeCount: ChaosStage.nodeCount)
                try await stage.run(steps, until: .now + length, tally)
                group.cancelAll()
            }
            try await traffic.flow(60)
        }
        #expect(answersUnderFaults.isSuperset(of: outcome.statuses.keys), "\(outcome.statuses)")
        let verdict = try await outcome.checkDelivery(on: stage.nodes[0])
        tally.summarise(outcome, verdict, seed: seed)
        #expect(verdict == Traffic.Outcome.Verdict(), "PARLEY_SEED=\(seed)")
        try await stage.nodes.stopAll()
        await stage.cluster.close()
    }

    @Test("chaos: a seed always returns the same faults, and every kind of fault occurs")
    func plan() {
        let plan = ChaosPlan(seed: 7, nodeCount: 3)
        let steps = Array(plan.prefix(40))
        #expect(steps == Array(plan.prefix(40)))
        #expect(steps != Array(ChaosPlan(seed: 8, nodeCount: 3).prefix(40)))
        #expect(Set(steps.prefix(Fault.allCases.count + 2).map(\.fault)) == Set(Fault.allCases))
        #expect(Set(steps.map(\.node)) == [0, 1, 2])
    }
}
