// The metrics of this node's work with the object store.
import Telemetry

final class ObjectMetrics: Sendable {
    let moveFailures = Counter()
    let deleted = Counter()
    let deletionFailures = Counter()
    private let movedCount = Counter()
    private let movedByteCount = Counter()

    func moved(_ byteCount: Int) {
        movedCount.add()
        movedByteCount.add(byteCount)
    }

    func write(to text: inout MetricsText) {
        text.counter(
            "parley_attachments_moved_total", "Attachments that this node moved to the object store.",
            movedCount.value)
        text.counter(
            "parley_attachment_moved_bytes_total",
            "Bytes that this node moved to the object store, thumbnails included.",
            movedByteCount.value)
        text.counter(
            "parley_objects_deleted_total", "Objects that this node deleted from the object store.", deleted.value)
    }
}
