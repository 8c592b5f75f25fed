// The metrics of a node's uploads and downloads of attachments.
import Synchronization
import Telemetry

/// Counts requests that carry the bytes of attachments. From any thread.
package final class TransferMetrics: Sendable {
    /// How a request with bytes of an upload ended.
    package enum UploadOutcome: String, CaseIterable, Sendable {
        /// The upload is complete.
        case complete
        /// The request ended as its client wanted. More is to come.
        case partial
        /// The connection broke, was too slow, or gave its slot to another. What arrived is kept.
        case interrupted
        /// A later request for the same upload ended it.
        case superseded
        /// Any other answer with a 4xx status.
        case refused
        /// The node or its database failed.
        case failed
    }

    package let uploads = LabelledCounters<UploadOutcome>()
    package let uploadsDisplaced = Counter()
    package let downloadsDisplaced = Counter()
    package let bytesReceived = Counter()
    package let bytesSent = Counter()
    private let uploadsRunning = Atomic(0)
    private let downloadsRunning = Atomic(0)

    package init() {}

    package func uploadBegan() { uploadsRunning.add(1, ordering: .relaxed) }
    package func uploadEnded(_ outcome: UploadOutcome) {
        uploadsRunning.subtract(1, ordering: .relaxed)
        uploads.add(outcome)
    }
    package func downloadBegan() { downloadsRunning.add(1, ordering: .relaxed) }
    package func downloadEnded() { downloadsRunning.subtract(1, ordering: .relaxed) }

    package func write(to text: inout MetricsText) {
        text.gauge(
            "parley_uploads_running", "Uploads of attachments in progress.", uploadsRunning.load(ordering: .relaxed))
        text.gauge(
            "parley_downloads_running", "Downloads of attachments in progress.",
            downloadsRunning.load(ordering: .relaxed))
        text.counter(
            "parley_uploads_total",
            "Requests with bytes of an attachment, by outcome. `interrupted`: what arrived is kept.",
            uploads.samples("outcome"))
        text.counter(
            "parley_uploads_displaced_total",
            "Uploads that gave their slot to a client with fewer, because the node had none left.",
            uploadsDisplaced.value)
        text.counter(
            "parley_downloads_displaced_total",
            "Downloads that gave their slot to a client with fewer, because the node had none left.",
            downloadsDisplaced.value)
        text.counter("parley_upload_bytes_total", "Bytes of attachments received and stored.", bytesReceived.value)
        text.counter("parley_download_bytes_total", "Bytes of attachments sent.", bytesSent.value)
    }
}
