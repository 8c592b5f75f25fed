// The metrics of a node's uploads and downloads of attachments.
import Telemetry

/// Counts requests that carry the bytes of attachments. From any thread.
package final class TransferMetrics: Metrics {
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

    private let uploadsRunning = Gauge("parley_uploads_running", "Uploads of attachments in progress.")
    private let downloadsRunning = Gauge("parley_downloads_running", "Downloads of attachments in progress.")
    package let uploads = LabelledCounters<UploadOutcome>(
        "parley_uploads_total",
        "Requests with bytes of an attachment, by `outcome`: complete, partial (more is to come), interrupted (also by "
            + "another that needed the slot; what arrived is kept), superseded (by a later request), refused, failed.",
        by: "outcome")
    package let uploadsDisplaced = Counter(
        "parley_uploads_displaced_total",
        "Uploads that gave their slot to a client with fewer, because the node had none left.")
    package let downloadsDisplaced = Counter(
        "parley_downloads_displaced_total",
        "Downloads that gave their slot to a client with fewer, because the node had none left.")
    package let bytesReceived = Counter("parley_upload_bytes_total", "Bytes of attachments received and stored.")
    package let bytesSent = Counter("parley_download_bytes_total", "Bytes of attachments sent.")

    package init() {}

    package func uploadBegan() { uploadsRunning.add(1) }
    package func uploadEnded(_ outcome: UploadOutcome) {
        uploadsRunning.add(-1)
        uploads.add(outcome)
    }
    package func downloadBegan() { downloadsRunning.add(1) }
    package func downloadEnded() { downloadsRunning.add(-1) }
}
