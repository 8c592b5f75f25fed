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

/// What the holds in force keep. All nodes show the same numbers.
final class HoldMetrics: Sendable {
    let failures = Counter()
    private let counts = Mutex(HoldCounts())

    func set(_ counts: HoldCounts) { self.counts.withLock { $0 = counts } }

    func write(to text: inout MetricsText) {
        let counts = counts.withLock { $0 }
        text.gauge(
            "parley_holds_in_force", "Legal holds that are not released; counted once a minute.", counts.inForce)
        text.gauge(
            "parley_held_contents", "Contents that legal holds keep; counted once a minute, estimated above 100,000.",
            counts.contents)
        text.gauge("parley_held_files", "Files that only legal holds keep; counted once a minute.", counts.files)
        text.gauge(
            "parley_held_bytes", "Bytes of held contents and files in tables and stores; counted once a minute.",
            counts.byteCount)
    }
}
