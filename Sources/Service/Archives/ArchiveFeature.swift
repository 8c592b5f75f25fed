// Archives: the calls that write and read them, and dropping abandoned imports.
import API
import Archives
import Store
import Workers

extension Feature {
    /// - Parameter objects: nil where attachments stay in PostgreSQL.
    static func archives(_ node: NodeCore, _ objects: (any ObjectAccess)?) -> Feature {
        let imports = ImportMetrics()
        let sweep = ImportSweep(store: node.store, metrics: imports, logger: node.logger)
        let (settings, logger) = (node.database.listenSettings, node.logger)
        let exports = ExportCalls(node.calls, objects: objects) { ArchiveReader(settings, $0, logger: logger) }
        return Feature(
            routes: exports.routes + ImportCalls(node.calls, metrics: imports).routes,
            components: [
                Component("exports", metrics: exports.metrics.write),
                Component("imports", failures: [imports.failures], metrics: imports.write, run: sweep.run),
            ])
    }
}
