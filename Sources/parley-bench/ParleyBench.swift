// `parley bench`: the load generator, as an executable of its own, and its cleanup on Ctrl-C: the server and the database
// of a baseline are removed.
import Bench
import CommandLineFlags
import Glibc
import Linux
import Logging
import UnixSignals

@main
struct ParleyBench {
    static func main() async {
        await ProgramMain.run {
            switch try BenchInvocation.parse(Array(CommandLine.arguments.dropFirst())) {
            case .show(let text): print(text)
            case .run(let settings): try await run(settings)
            case .runPhase(let phase): try await phase.run()
            }
        }
    }

    private static func run(_ settings: BenchSettings) async throws {
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = .warning
            return handler
        }
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
