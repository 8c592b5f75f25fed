// Finishes what the erasure of an account leaves to be done.
import Domain
import Log
import Logging
import Store
import Telemetry

/// Any number of nodes may; what one has in hand the others leave to it, and what it leaves undone they do.
struct ErasureUpkeep: Sendable {
    /// Of a thread's messages, which takes none meanwhile.
    private static let messageCountMax = 100
    /// Between looks whether there is something to do. Costs two index probes.
    private static let interval = Duration.seconds(1)

    let store: Store
    let figures: ErasureFigures
    let logger: Logger

    /// Runs until cancelled.
    func run() async throws {
        while true {
            do {
                if try await store.sweepErasures(limit: Self.messageCountMax) {
                    figures.steps.add()
                } else {
                    try await Beat.sleep(Self.interval)
                }
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                figures.failures.add()
                logger.warning("erasing has to wait", metadata: ["reason": "\(error)"])
                try await Task.sleep(for: .seconds(2))
            }
        }
    }
}

/// What this node has done for it.
final class ErasureFigures: Sendable {
    /// Parts of erasures: of a thread, or of the log.
    let steps = Counter()
    let failures = Counter()

    func write(to text: inout MetricsText) {
        text.counter("parley_erasure_steps_total", "Parts of the erasure of accounts that were done.", steps.value)
        text.counter("parley_erasure_failures_total", "Calls for that which failed.", failures.value)
    }
}
