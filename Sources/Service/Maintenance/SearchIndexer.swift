// Keeps the index that search reads behind the log, at the pace that the load leaves.
import Domain
import Log
import Logging
import Store
import Synchronization
import Telemetry

/// Any number of nodes may; one works at a time. Search is right without it, and slow.
struct SearchIndexer: Sendable {
    /// Events of a pass: some 10 ms of a connection.
    private static let passLimit = 100
    /// Words of a pass, which ends with the message that brings it there: some 200 ms of a connection.
    private static let wordCountMax = 20_000
    private static let wordCountMin = 100
    /// Between looks whether there is something to do. Costs nothing while the log stands still.
    private static let lookInterval = Duration.seconds(1)
    /// The log stands still, but another node that was at it may have died.
    private static let checkInterval = Duration.seconds(30)
    /// The pause after a pass, in times of what that took: one for each so many events a second by which the log grows, so
    /// that the index keeps up with some hundreds a second, and sending at full speed costs it a hundredth of a processor.
    private static let eventRateOfPause = 50.0
    private static let pauseMax = 100.0

    let store: Store
    let metrics: SearchMetrics
    /// Where the log has come to.
    let head: @Sendable () -> Position
    let logger: Logger

    static func configure(_ configuration: String, _ store: Store) async throws {
        do {
            try await store.configureSearch(configuration)
        } catch let problem as Problem where problem.code == .invalid {
            throw StartError("the database has no text search configuration \(configuration); see \\dF in psql.")
        }
    }

    func run() async throws {
        let clock = ContinuousClock()
        var doneAt: (head: Position, time: ContinuousClock.Instant)?
        var last = (head: head(), time: clock.now)
        var wordCount = Self.wordCountMax
        while true {
            let now = (head: head(), time: clock.now)
            if let doneAt, doneAt.head == now.head, now.time - doneAt.time < Self.checkInterval {
                try await Ticker.sleep(Self.lookInterval)
                continue
            }
            let rate = Double(now.head.value - last.head.value) / max(0.001, (now.time - last.time) / .seconds(1))
            last = now
            do {
                let pass = try await store.indexMessages(limit: Self.passLimit, wordCount: wordCount)
                wordCount = min(wordCount * 2, Self.wordCountMax)
                if let pass { metrics.note(pass.lookedCount, pass.position) }
                guard let pass, pass.lookedCount > 0 else {
                    doneAt = now
                    try await Ticker.sleep(Self.lookInterval)
                    continue
                }
                doneAt = nil
                let took = clock.now - now.time
                try await Task.sleep(for: took * min(max(1, rate / Self.eventRateOfPause), Self.pauseMax))
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                // The database may have cancelled a pass that took too long. The same size would fail again.
                wordCount = max(wordCount / 2, Self.wordCountMin)
                logger.warning(
                    "indexing messages failed; retrying with a smaller pass in 5 s",
                    metadata: ["reason": "\(error)", "words": "\(wordCount)"])
                try await Task.sleep(for: .seconds(5))
            }
        }
    }
}

/// What this node has done for the index.
final class SearchMetrics: Sendable {
    private let looked = Counter()
    private let position = Atomic<Int64>(0)

    func note(_ lookedCount: Int, _ position: Position) {
        looked.add(lookedCount)
        self.position.store(position.value, ordering: .relaxed)
    }

    func write(to text: inout MetricsText) {
        text.gauge(
            "parley_search_position", "How far the search index had the log when this node last looked.",
            Int(position.load(ordering: .relaxed)))
        text.counter(
            "parley_search_indexed_total", "Events and messages that this node looked at for the index.", looked.value)
    }
}
