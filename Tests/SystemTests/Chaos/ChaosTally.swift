// The progress and the summary that a chaos run prints.

import Foundation
import Synchronization

/// Counts faults, and prints.
final class ChaosTally: Sendable {
    private let started = ContinuousClock.now
    private let faults = Mutex<[Fault: Int]>([:])

    func count(_ fault: Fault) { faults.withLock { $0[fault, default: 0] += 1 } }

    private func count(of fault: Fault) -> Int { faults.withLock { $0[fault] ?? 0 } }

    private var faultsText: String {
        Fault.allCases.filter { count(of: $0) > 0 }.map { "\($0.rawValue) \(count(of: $0))" }.joined(separator: ", ")
    }

    private var clock: String {
        let seconds = Int(started.duration(to: .now).seconds)
        return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
    }

    /// Prints a line at each interval until cancelled.
    func report(_ traffic: Traffic, every interval: Duration) async throws {
        while true {
            try await Task.sleep(for: interval)
            Self.say(
                "\(clock)  messages \(traffic.messageCount), events delivered \(traffic.eventCount), "
                    + "polls \(traffic.pollCount); \(faultsText)")
        }
    }

    func summarise(_ outcome: Traffic.Outcome, _ verdict: Traffic.Outcome.Verdict, seed: UInt64) {
        let kills = [Fault.nodeKilled, .databaseKilled, .sessionKilled].reduce(0) { $0 + count(of: $1) }
        Self.say(
            """
            after \(clock), seed \(seed):
              messages      \(outcome.messageCount), of which \(outcome.retriedCount) had to be sent again
              events        \(outcome.eventCount) delivered to \(outcome.followers.count) devices
              polls         \(outcome.pollCount)
              kills         \(kills)
              faults        \(faultsText)
              lost          \(verdict.lost)
              doubled       \(verdict.doubled)
              out of order  \(verdict.disordered)
            """)
    }

    /// Prints unbuffered, even if standard output is not a terminal.
    static func say(_ text: String) { FileHandle.standardOutput.write(Data("chaos: \(text)\n".utf8)) }
}
