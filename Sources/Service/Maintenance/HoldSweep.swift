// Erases in the background what released legal holds kept, and counts what the holds in force keep.
import Logging
import Store
import Synchronization
import Telemetry
import Workers

/// Runs on every node. Each call locks a hold and skips holds locked by others, so nodes share the work and finish what
/// a dead node started.
struct HoldSweep: Sendable {
    /// Contents of one call.
    private static let contentCountMax = 200
    /// Between checks for work. A check costs an index probe.
    private static let interval = Duration.seconds(5)
    /// Between counts, for /metrics.
    private static let countInterval = Duration.seconds(60)

    let store: Store
    let metrics = HoldMetrics()
    let logger: Logger

    var component: Component {
        Component("holdSweep", failures: [metrics.failures], metrics: metrics.write, run: run)
    }

    /// Runs until cancelled.
    func run() async throws {
        let worker = Worker("erasing held contents", every: Self.interval, failures: metrics.failures, logger: logger)
        var counted: ContinuousClock.Instant?
        try await worker.run {
            if try await store.sweepHolds(limit: Self.contentCountMax) { return .more }
            if counted.map({ $0.duration(to: .now) >= Self.countInterval }) ?? true {
                metrics.set(try await store.holdCounts())
                counted = .now
            }
            return .idle
        }
    }
}

/// All nodes show the same numbers.
final class HoldMetrics: Metrics {
    let failures = Counter()
    private let inForce = Gauge(
        "parley_holds_in_force",
        "Legal holds that are not released (docs/legal-hold.md). The same on all nodes, counted once a minute.")
    private let contents = Gauge(
        "parley_held_contents", "Contents that legal holds keep. Counted once a minute, estimated above 100,000.")
    private let files = Gauge("parley_held_files", "Files that only legal holds keep. Counted once a minute.")
    private let bytes = Gauge(
        "parley_held_bytes",
        "Bytes of held contents (as PostgreSQL stores them) and of files that only legal holds keep. Counted once a "
            + "minute.")

    func set(_ counts: HoldCounts) {
        inForce.set(counts.inForce)
        contents.set(counts.contents)
        files.set(counts.files)
        bytes.set(counts.byteCount)
    }
}
