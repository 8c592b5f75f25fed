// The metrics of this node's work on attachments. Those of uploads and downloads are the API's.
import Telemetry
import Thumbnailing

final class AttachmentMetrics: Metrics {
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

    private let running = Gauge("parley_attachment_checks_running", "Attachments being checked on this node.")
    let checked = LabelledCounters<Outcome>(
        "parley_attachment_checks_total",
        "Checks of attachments by this node, by `outcome`: ready, refused, postponed (the virus scanner is unreachable, or "
            + "too many pictures wait), abandoned (deleted, or checked by another node).",
        by: "outcome")
    let took = Histogram(
        "parley_attachment_check_seconds", "Time of a check of an attachment, from its claim to its end.")
    let scanFailures = Counter(
        "parley_attachment_scan_failures_total", "Scans without a verdict: the virus scanner is unreachable or failed.")
    let unreadable = Counter(
        "parley_attachment_pictures_unreadable_total",
        "Pictures with damaged headers, kept as files with their metadata.")
    let thumbnails = LabelledCounters<ThumbnailOutcome>(
        "parley_attachment_thumbnails_total",
        "Thumbnails by `outcome`: drawn, unreadable, too_large, timed_out, killed, missing (`parley-thumbnailer` is not "
            + "installed), failed, limited (the account has used its processor time).",
        by: "outcome")
    let swept = Counter(
        "parley_attachment_sweeps_total", "Unused attachments that this node deleted, whole or in part.")
    private let places = LabelledGauge(
        "parley_attachments",
        "Ready attachments on all nodes, by `place`: database, object_store. Counted once a minute.", by: "place")
    private let garbage = Gauge(
        "parley_attachment_garbage", "Objects still to delete from the object store. Counted once a minute.")
    let failures = Counter()
    let sweepFailures = Counter()

    init() { set((here: 0, moved: 0, garbage: 0)) }

    func begin() { running.add(1) }
    func end() { running.add(-1) }

    func set(_ counts: (here: Int, moved: Int, garbage: Int)) {
        places.show { [("database", Double(counts.here)), ("object_store", Double(counts.moved))] }
        garbage.set(counts.garbage)
    }
}
