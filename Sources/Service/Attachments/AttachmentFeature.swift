// Attachments: the calls, checking uploads, and deleting what nobody uses.
import API
import Thumbnailing
import Workers

extension Feature {
    /// - Parameter objects: nil where attachments stay in PostgreSQL.
    static func attachments(_ node: NodeCore, _ objects: (any ObjectAccess)?) throws -> Feature {
        let (settings, store, logger, metrics) = (node.settings, node.store, node.logger, AttachmentMetrics())
        let processor = AttachmentProcessor(
            store: store, scanner: settings.makeAttachmentScanner(failures: metrics.scanFailures, logger: logger),
            thumbnailer: Thumbnailer(logger: logger), rates: node.calls.rates, metrics: metrics, logger: logger)
        let checker = AttachmentChecker(store: store, processor: processor, logger: logger)
        let sweep = AttachmentSweep(store: store, metrics: metrics, logger: logger)
        let calls = AttachmentCalls(
            node.calls,
            AttachmentServices(
                check: checker.check, objects: objects, allowsOtherOrigins: !settings.corsOrigins.isEmpty,
                sendsInterimAnswers: settings.sendsUploadInterims, cookieSeconds: settings.sessionIdleDays * 86_400))
        return Feature(
            routes: calls.routes,
            components: [
                Component("transfers", metrics: calls.metrics.write),
                Component(
                    "attachmentChecker", failures: [metrics.failures], metrics: metrics.write, run: checker.run),
                Component("attachmentSweep", failures: [metrics.sweepFailures], run: sweep.run),
            ])
    }
}
