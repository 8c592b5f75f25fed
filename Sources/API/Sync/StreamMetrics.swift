// How many event streams are open, and how they ended.
import Telemetry

/// Counts event streams. From any thread.
package final class StreamMetrics: Sendable {
    /// Why a stream ended. `gone`: the client left, or read nothing for too long. `displaced`: its session or account
    /// opened more polls and streams than may wait.
    enum End: String, CaseIterable {
        case gone, signedOut, stopping, expired, failed, displaced
    }

    private let begun = Counter()
    private let ended = End.allCases.map { _ in Counter() }

    package init() {}

    func begin() { begun.add() }

    func end(_ end: End) { ended[End.allCases.firstIndex(of: end) ?? 0].add() }

    package func write(to text: inout MetricsText) {
        let counts = ended.map(\.value)
        text.gauge(
            "parley_streams", "Open event streams (server-sent events).", max(0, begun.value - counts.reduce(0, +)))
        text.counter("parley_streams_total", "Event streams opened.", begun.value)
        text.counter(
            "parley_streams_ended_total",
            "Event streams that ended, by reason. gone: the client left or stopped reading. displaced: its session or "
                + "account opened too many.",
            zip(End.allCases, counts).map { ([("reason", $0.rawValue)], $1) })
    }
}
