// The components of a node that work on attachments.
import API
import Logging
import ServiceConfiguration
import Store
import Thumbnailing
import Workers

extension Node {
    /// Returns the components, and what the API needs of them.
    static func attachmentComponents(
        _ settings: Settings, _ store: Store, _ rates: RateLimits, logger: Logger
    ) throws -> (components: [Component], services: AttachmentServices) {
        let (metrics, transfers) = (AttachmentMetrics(), TransferMetrics())
        let processor = AttachmentProcessor(
            store: store, scanner: settings.makeAttachmentScanner(failures: metrics.scanFailures, logger: logger),
            thumbnailer: Thumbnailer(logger: logger), rates: rates, metrics: metrics, logger: logger)
        let checker = AttachmentChecker(store: store, processor: processor, logger: logger)
        let sweep = AttachmentSweep(store: store, metrics: metrics, logger: logger)
        let objectStore = try ObjectStoreComponents(settings, store: store, logger: logger)
        let components = [
            Component("transfers", metrics: transfers.write),
            Component(
                "attachmentChecker", failures: [metrics.failures], metrics: metrics.writeChecks, run: checker.run),
            Component(
                "attachmentSweep", failures: [metrics.sweepFailures], metrics: metrics.writeSweep, run: sweep.run),
        ]
        let services = AttachmentServices(
            check: checker.check, objects: objectStore.access, metrics: transfers, usesTLS: settings.tlsFiles != nil,
            publicURL: settings.publicURL, allowsOtherOrigins: !settings.corsOrigins.isEmpty,
            sendsInterimAnswers: settings.sendsUploadInterims, cookieSeconds: settings.sessionIdleDays * 86_400)
        return (components + objectStore.components, services)
    }
}
