// The metrics of this node's work on attachments. Those of uploads and downloads are the API's.
import Synchronization
import Telemetry
import Thumbnailing

final class AttachmentMetrics: Sendable {
    /// How a check ended.
    enum Outcome: String, CaseIterable, Sendable {
        case ready
        case refused
        /// The virus scanner is away, or too many pictures wait for a thumbnail. The attachment is checked again.
        case postponed
        /// Another node checks it, or it was deleted.
        case abandoned
    }

    enum ThumbnailOutcome: String, CaseIterable, Sendable {
        case drawn
        case unreadable
        case tooLarge = "too_large"
        case timedOut = "timed_out"
        case killed
        case missing
        case failed
        /// The account has used its processor time, or has too many pictures in line.
        case limited

        init(_ drawing: Drawing) {
            self =
                switch drawing {
                case .drawn: .drawn
                case .unreadable: .unreadable
                case .tooLarge: .tooLarge
                case .timedOut: .timedOut
                case .killed: .killed
                case .missing: .missing
                case .failed: .failed
                }
        }
    }

    let checked = LabelledCounters<Outcome>()
    let thumbnails = LabelledCounters<ThumbnailOutcome>()
    /// Time of a check from its claim to its end.
    let took = Histogram(.seconds)
    /// Pictures whose headers are damaged.
    let unreadable = Counter()
    let failures = Counter()
    /// Scans without a verdict: the virus scanner is away or failed.
    let scanFailures = Counter()
    let swept = Counter()
    let sweepFailures = Counter()
    private let runningCount = Atomic(0)
    /// Counts of all nodes together, as of the last look.
    private let places = Mutex((here: 0, moved: 0, garbage: 0))

    func begin() { runningCount.add(1, ordering: .relaxed) }
    func end() { runningCount.subtract(1, ordering: .relaxed) }

    func set(_ places: (here: Int, moved: Int, garbage: Int)) {
        self.places.withLock { $0 = places }
    }

    func writeChecks(to text: inout MetricsText) {
        text.gauge(
            "parley_attachment_checks_running", "Attachments that this node checks now.",
            runningCount.load(ordering: .relaxed))
        text.counter(
            "parley_attachment_checks_total",
            "Checks of attachments by this node, by outcome. `postponed`: the virus scanner is away, or too many pictures wait.",
            checked.samples("outcome"))
        text.histogram(
            "parley_attachment_check_seconds", "Time of a check from its claim to its end.", [([], took.values)])
        text.counter(
            "parley_attachment_scan_failures_total", "Scans without a verdict: the virus scanner is away or failed.",
            scanFailures.value)
        text.counter(
            "parley_attachment_pictures_unreadable_total",
            "Pictures with damaged headers. They are kept as files, with their metadata.", unreadable.value)
        text.counter(
            "parley_attachment_thumbnails_total",
            "Thumbnails by outcome. `missing`: parley-thumbnailer is not installed. `limited`: the account has used its processor time.",
            thumbnails.samples("outcome"))
    }

    func writeSweep(to text: inout MetricsText) {
        text.counter(
            "parley_attachment_sweeps_total", "Unused attachments that this node deleted, or deleted in part.",
            swept.value)
        let places = places.withLock { $0 }
        text.gauge(
            "parley_attachments", "Ready attachments by place, on all nodes; counted once a minute.",
            [
                ([("place", "database")], Double(places.here)),
                ([("place", "object_store")], Double(places.moved)),
            ])
        text.gauge(
            "parley_attachment_garbage", "Objects to delete from the object store; counted once a minute.",
            places.garbage)
    }
}
