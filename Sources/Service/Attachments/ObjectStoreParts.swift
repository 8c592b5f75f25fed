// The parts of a node that use the object store.
import API
import Logging
import ObjectStore
import ServiceConfiguration
import Store
import Workers

struct ObjectStoreParts: Sendable {
    /// Moves and deletions under way at once on a node.
    private static let workTransferCountMax = 32

    let parts: [Part]
    /// Nil where attachments stay in PostgreSQL.
    let access: (any ObjectAccess)?

    /// Connects to nothing: a node starts while the store is away.
    init(_ settings: Settings, store: Store, logger: Logger) throws {
        let metrics = ObjectMetrics()
        // Slow downloads must not keep the workers waiting, so each kind has connections of its own.
        guard let objects = try settings.makeObjectStore(transferCountMax: Self.workTransferCountMax),
            let downloads = try settings.makeObjectStore(transferCountMax: ObjectDownloads.transferCountMax)
        else {
            (parts, access) = ([Part("objectMover", metrics: metrics.write)], nil)
            return
        }
        let mover = ObjectMover(
            transfer: ObjectTransfer(store: store, objects: objects), metrics: metrics, logger: logger)
        let garbage = GarbageWorker(store: store, objects: objects, metrics: metrics, logger: logger)
        parts = [
            Part("objectMover", failures: [metrics.moveFailures], metrics: metrics.write, run: mover.run),
            Part("objectGarbage", failures: [metrics.deletionFailures], run: garbage.run),
        ]
        access = ObjectDownloads(objects: downloads, redirects: settings.s3Serving == .redirect, logger: logger)
    }
}
