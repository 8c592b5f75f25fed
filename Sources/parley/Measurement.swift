// `parley bench`, and its cleanup on Ctrl-C: the server and the database of a baseline are removed.
import Bench
import Foundation
import Linux
import ServiceConfiguration
import UnixSignals

enum Measurement {
    static func run(_ arguments: [String]) async throws {
        let settings: BenchSettings
        switch try BenchInvocation.parse(arguments) {
        case .show(let text): return print(text)
        case .run(let parsed): settings = parsed
        case .runPhase(let phase): return try await phase.run()
        }
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
            StandardError.write("parley: cleaning up; press Ctrl-C again to exit at once\n")
            for number in [SIGTERM, SIGINT] { signal(number, SIG_DFL) }
            do {
                while try await group.next() != nil {}
            } catch is CancellationError {
                throw BenchFailure("interrupted")
            }
        }
    }
}
