// A client that follows events derives the same inbox as a fresh load, after any history.

import Foundation
import TestSupport
import Testing

/// `LAW_OPERATIONS=10000 PARLEY_SEED=7 swift test --filter ClientLaw` plays 10,000 operations. Without `PARLEY_SEED` the
/// seed is new. The test prints the seed, and shortens a failing history for up to two minutes.
private enum Law {
    private static let environment = ProcessInfo.processInfo.environment
    static let operationCount = environment["LAW_OPERATIONS"].map { Int($0) } ?? 1_200
    /// The length of a history; the next one starts with new people.
    static let historyLength = 600
    /// Includes the time to shorten a failing history.
    static var minutesMax: Int { 6 + (operationCount ?? 0) / 1_000 }
}

extension SystemTests {
    @Suite("A client that follows events", .timeLimit(.minutes(Law.minutesMax)))
    struct ClientLaw {
        let nodes: TestNodes
        /// Together with one of the people these are more than ten.
        private let population: [String]

        init() async throws {
            nodes = try await TestNodes.shared()
            var population: [String] = []
            for number in 0..<10 { population.append(try await nodes.a.client.register("Population\(number)").id) }
            self.population = population
        }

        @Test("derives the same inbox from an old inbox and its events as from a fresh load, after any random history")
        func holds() async throws {
            let count = try #require(Law.operationCount, "LAW_OPERATIONS is no number")
            let seed = Seed.fresh("a client that follows events")
            var doneCounts: [String: Int] = [:]
            var doneCount: Int { doneCounts.values.reduce(0, +) }
            var eventCount = 0
            var historyCount: UInt64 = 0
            while doneCount < count {
                let length = min(Law.historyLength, count - doneCount)
                let player = try await play(seed: seed + historyCount, count: length)
                historyCount += 1
                guard let player else { return }
                doneCounts.merge(player.doneCounts, uniquingKeysWith: +)
                eventCount += player.devices.reduce(0) { $0 + $1.eventCount }
            }
            print("PARLEY_SEED=\(seed): \(doneCount) operations, \(eventCount) events applied; \(doneCounts)")
            // A short run may miss some kinds of events.
            #expect(doneCount < 5_000 || doneCounts.count == Operation.nameCount, "PARLEY_SEED=\(seed)")
        }

        /// Plays a history until `count` operations were accepted; returns nil if a check failed.
        private func play(seed: UInt64, count: Int) async throws -> HistoryPlayer? {
            var player = try await HistoryPlayer(at: nodes.addresses, population: population)
            var generator = OperationGenerator(seed: seed)
            var history: History = []
            do {
                // Bounded, in case the node accepts no operation any more.
                while player.doneCount < count, history.count < 20 * count {
                    history.append(generator.draw(player, nodeCount: nodes.addresses.count))
                    try await player.play(history[history.count - 1])
                }
                try await player.checkAll()
                #expect(player.doneCount >= count, "PARLEY_SEED=\(seed)")
                return player
            } catch let difference as Difference {
                let first = try await withoutOthers(history, difference, player) ?? (history, difference)
                let shortest = try await Shrinking.shrink(first.0, first.1, within: .seconds(120), failure)
                let operations = shortest.history.map { "- " + $0.map(\.description).joined(separator: "\n  ") }
                Issue.record(
                    """
                    PARLEY_SEED=\(seed): device \(shortest.failure.device) differs from a fresh inbox.
                    \(shortest.failure)
                    These of the \(history.count) rounds reproduce it:
                    \(operations.joined(separator: "\n"))
                    """)
                return nil
            }
        }

        /// Returns the operations on the threads that are shown wrongly, and those of the device that shows them so.
        /// Nil if these alone do not fail.
        private func withoutOthers(
            _ history: History, _ difference: Difference, _ player: HistoryPlayer
        ) async throws -> (History, Difference)? {
            let threads = player.threads.filter { difference.threads.contains($0.value.id) }.map(\.key)
            let own = history.map { operations in
                operations.filter { operation in
                    operation.thread.map(threads.contains) ?? (operation.device == difference.device)
                }
            }.filter { !$0.isEmpty }
            return try await failure(of: own).map { (own, $0) }
        }

        /// Plays the history again with new people and compares all devices at its end. Returns the first difference.
        private func failure(of history: History) async throws -> Difference? {
            var player = try await HistoryPlayer(at: nodes.addresses, population: population)
            do {
                for operations in history { try await player.play(operations) }
                try await player.checkAll()
                return nil
            } catch let difference as Difference {
                return difference
            }
        }
    }
}
