// The parts of a node that work on attachments.
import API
import Logging
import ServiceConfiguration
import Store
import Thumbnailing
import Workers

extension Node {
    /// Returns the parts, and what the API needs of them.
    static func attachmentParts(
        _ settings: Settings, _ store: Store, _ rates: RateLimits, logger: Logger
    ) throws -> (parts: [Part], services: AttachmentServices) {
        let (metrics, transfers) = (AttachmentMetrics(), TransferMetrics())
        let processor = AttachmentProcessor(
            store: store, scanner: settings.makeAttachmentScanner(failures: metrics.scanFailures, logger: logger),
            thumbnailer: Thumbnailer(logger: logger), rates: rates, metrics: metrics, logger: logger)
        let checker = AttachmentChecker(store: store, processor: processor, logger: logger)
        let sweep = AttachmentSweep(store: store, metrics: metrics, logger: logger)
        let objectStore = try ObjectStoreParts(settings, store: store, logger: logger)
        let parts = [
            Part("transfers", metrics: transfers.write),
            Part("attachmentChecker", failures: [metrics.failures], metrics: metrics.writeChecks, run: checker.run),
            Part("attachmentSweep", failures: [metrics.sweepFailures], metrics: metrics.writeSweep, run: sweep.run),
        ]
        let services = AttachmentServices(
            check: checker.check, objects: objectStore.access, metrics: transfers, usesTLS: settings.tlsFiles != nil,
            publicURL: settings.publicURL, allowsOtherOrigins: !settings.corsOrigins.isEmpty,
            sendsInterimAnswers: settings.sendsUploadInterims, cookieSeconds: settings.sessionIdleDays * 86_400)
        return (parts + objectStore.parts, services)
    }
}
