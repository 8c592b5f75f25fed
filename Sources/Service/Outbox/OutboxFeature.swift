// The outbox: messages and members that other programs wrote by SQL. API.swift has the calls on its failures.
import API
import CommandLineFlags
import Store
import Workers

extension Feature {
    /// The outbox in Parley's own database, and one component for each of the others.
    static func outbox(_ node: NodeCore) -> Feature {
        let (settings, store, logger) = (node.settings, node.store, node.logger)
        let metrics = OutboxMetrics(databaseCount: settings.outboxURLs.count)
        let pump = OutboxPump(store: store, limits: settings.limits, metrics: metrics, logger: logger)
        // The readers log what fails themselves, once. The connections would log each attempt.
        var quiet = logger
        quiet.logLevel = .critical
        let name = String(UInt64.random(in: 0...(.max)), radix: 36)
        let readers = settings.outboxURLs.enumerated().map { [quiet] index, url in
            OutboxReader(
                number: index + 1, database: OutboxDatabase(conninfo: url, node: name, logger: quiet),
                place: ConnectionString.redacted(url), store: store, limits: settings.limits, metrics: metrics,
                logger: logger)
        }
        return Feature(
            components: [Component("outbox", failures: [metrics.failures], metrics: metrics.write, run: pump.run)]
                + readers.map { Component("outboxReader", run: $0.run) })
    }
}
