// The object store: moving attachments to it, and deleting them there.
import API
import Logging
import ObjectStore
import ServiceConfiguration
import Store
import Workers

struct ObjectStoreFeature: Sendable {
    /// Requests of the workers at once on a node.
    private static let workTransferCountMax = 32

    let feature: Feature
    /// It is nil where attachments stay in PostgreSQL.
    let access: (any ObjectAccess)?

    /// Connects to nothing: a node starts while the store is down.
    init(_ settings: Settings, store: Store, logger: Logger) throws {
        let metrics = ObjectMetrics()
        let objects = try settings.makeObjectStore(transferCountMax: Self.workTransferCountMax)
        let mover = objects.map {
            ObjectMover(transfer: ObjectTransfer(store: store, objects: $0), metrics: metrics, logger: logger)
        }
        let garbage = objects.map { GarbageWorker(store: store, objects: $0, metrics: metrics, logger: logger) }
        feature = Feature(components: [
            Component("objectMover", of: mover, failures: [metrics.moveFailures], metrics: metrics.write) {
                await $0.run()
            },
            Component("objectGarbage", of: garbage, failures: [metrics.deletionFailures]) { try await $0.run() },
        ])
        // Slow downloads must not keep the workers waiting, so they have connections of their own.
        access = try settings.makeObjectStore(transferCountMax: ObjectDownloads.transferCountMax).map {
            ObjectDownloads(objects: $0, redirects: settings.s3Serving == .redirect, logger: logger)
        }
    }
}
