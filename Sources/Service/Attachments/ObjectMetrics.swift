// The metrics of this node's work with the object store.
import Telemetry

final class ObjectMetrics: Metrics {
    let moveFailures = Counter()
    let deletionFailures = Counter()
    private let movedCount = Counter(
        "parley_attachments_moved_total", "Attachments that this node moved to the object store.")
    private let movedByteCount = Counter(
        "parley_attachment_moved_bytes_total",
        "Bytes of attachments that this node moved to the object store, thumbnails included.")
    let deleted = Counter("parley_objects_deleted_total", "Objects that this node deleted from the object store.")

    func moved(_ byteCount: Int) {
        movedCount.add()
        movedByteCount.add(byteCount)
    }
}
