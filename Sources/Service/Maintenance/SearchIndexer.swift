// Keeps the search index up to date behind the log, at a pace that depends on the load.
import Domain
import Log
import Logging
import Store
import Synchronization
import Telemetry
import Workers

/// Indexes new messages. Runs on every node; one node works at a time. Without the index search is correct but slow.
struct SearchIndexer: Sendable {
    /// Events of a pass: some 10 ms of a connection.
    private static let passLimit = 100
    /// Words of a pass, which ends with the message that reaches this count: some 200 ms of a connection.
    private static let wordCountMax = 20_000
    private static let wordCountMin = 100
    /// Between checks of the log's head. A check of a log that does not grow costs nothing.
    private static let interval = Duration.seconds(1)
    /// The interval between passes while the log does not grow, because another node may have died in the middle of
    /// one.
    private static let checkInterval = Duration.seconds(30)
    /// The pause after a pass, as a multiple of its length: 1 for each 50 events per second by which the log grows. So
    /// the index keeps up with some hundreds of events per second. At full speed of sending it costs 1 % of a
    /// processor.
    private static let eventRateOfPause = 50.0
    private static let pauseMax = 100.0

    let store: Store
    let metrics = SearchMetrics()
    /// Returns the log's head, as this node knows it.
    let head: @Sendable () -> Position
    let logger: Logger

    static func configure(_ configuration: String, _ store: Store) async throws {
        do {
            try await store.configureSearch(configuration)
        } catch let problem as Problem where problem.code == .invalid {
            throw StartError("the database has no text search configuration \(configuration); see \\dF in psql.")
        }
    }

    var component: Component {
        Component("searchIndexer", failures: [metrics.failures], metrics: metrics.write, run: run)
    }

    /// Runs until cancelled.
    func run() async throws {
        let clock = ContinuousClock()
        var doneAt: (head: Position, time: ContinuousClock.Instant)?
        var last = (head: head(), time: clock.now)
        var wordCount = Self.wordCountMax
        let worker = Worker(
            "indexing messages for search", every: Self.interval, retryAfter: .seconds(5), failures: metrics.failures,
            logger: logger)
        try await worker.run {
            let now = (head: head(), time: clock.now)
            if let doneAt, doneAt.head == now.head, now.time - doneAt.time < Self.checkInterval { return .idle }
            let rate = Double(now.head.value - last.head.value) / max(0.001, (now.time - last.time) / .seconds(1))
            last = now
            // The database may cancel a pass that takes too long, and would cancel one of the same size again.
            let wordCountNow = wordCount
            wordCount = max(wordCountNow / 2, Self.wordCountMin)
            let pass = try await store.indexMessages(limit: Self.passLimit, wordCount: wordCountNow)
            wordCount = min(wordCountNow * 2, Self.wordCountMax)
            if let pass {
                metrics.looked.add(pass.lookedCount)
                metrics.position.set(Int(pass.position.value))
            }
            guard let pass, pass.lookedCount > 0 else {
                doneAt = now
                return .idle
            }
            doneAt = nil
            let took = clock.now - now.time
            return .pause(took * min(max(1, rate / Self.eventRateOfPause), Self.pauseMax))
        }
    }
}

final class SearchMetrics: Metrics {
    let position = Gauge(
        "parley_search_position", "Log position up to which messages are indexed, as of this node's last pass.")
    let looked = Counter("parley_search_indexed_total", "Events and messages that this node read to index them.")
    let failures = Counter()
}
