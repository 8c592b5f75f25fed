// How many event streams are open, and how they ended.
import Telemetry

/// Counts event streams. From any thread.
package final class StreamMetrics: Metrics {
    /// Why a stream ended. `gone`: the client left, or read nothing for too long. `displaced`: its session or account
    /// opened more polls and streams than may wait.
    enum End: String, CaseIterable {
        case gone, signedOut, stopping, expired, failed, displaced
    }

    private let open = Gauge("parley_streams", "Open event streams (server-sent events).")
    private let begun = Counter("parley_streams_total", "Event streams opened.")
    private let ended = LabelledCounters<End>(
        "parley_streams_ended_total",
        "Event streams that ended, by `reason`: gone (the client left or stopped reading), signedOut, stopping, expired, "
            + "failed, displaced (its session or account opened too many).",
        by: "reason")

    package init() {}

    func begin() {
        open.add(1)
        begun.add()
    }

    func end(_ end: End) {
        open.add(-1)
        ended.add(end)
    }
}
