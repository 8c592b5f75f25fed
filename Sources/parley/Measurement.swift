// `parley bench`, and its orderly end at Ctrl-C: a baseline's server and database must not be left behind.
import Bench
import Foundation
import ServiceConfiguration
import UnixSignals

enum Measurement {
    static func run(_ settings: BenchSettings) async throws {
        var quiet = Settings()
        quiet.logLevel = .warning
        LogOutput.bootstrap(quiet)
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await Bench.run(settings)
                return true
            }
            group.addTask {
                for await _ in signals { break }
                return false
            }
            let isDone = try await group.next() ?? true
            group.cancelAll()
            guard !isDone else { return }
            StandardError.write("parley: cleaning up; once more to leave at once\n")
            for number in [SIGTERM, SIGINT] { signal(number, SIG_DFL) }
            do {
                while try await group.next() != nil {}
            } catch is CancellationError {
                throw BenchFailure("interrupted")
            }
        }
    }
}
