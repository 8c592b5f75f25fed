// The components of a node that are made of settings and database alone.
import API
import Archives
import CommandLineFlags
import EmbeddedPostgres
import Log
import Logging
import ServiceConfiguration
import Store
import Workers

extension Node {
    static func databaseComponents(_ database: Database, _ pools: DatabasePools, logger: Logger) -> [Component] {
        [
            Component("embeddedPostgres", of: database.embedded) { try await restart($0, logger) },
            Component("databasePools", metrics: pools.writeMetrics),
        ]
    }

    /// Restarts the embedded PostgreSQL whenever it stops. Runs until cancelled.
    @Sendable private static func restart(_ server: EmbeddedPostgres, _ logger: Logger) async throws {
        while true {
            let reason = try await server.waitUntilExit()
            logger.error("PostgreSQL stopped unexpectedly; restarting it", metadata: ["reason": "\(reason)"])
            try await server.restart()
        }
    }

    static func alertPlanner(
        _ settings: Settings, _ store: Store, _ log: LogComponents<SendWaiter>, _ devicesWentAway: Flag,
        wake: @escaping @Sendable () -> Void, logger: Logger
    ) -> Component {
        let metrics = AlertPlannerMetrics()
        let planner = AlertPlanner(
            store: store, lifeSeconds: settings.pushLifeHours * 3_600, metrics: metrics,
            head: { [hub = log.hub] in hub.head.position }, devicesWentAway: devicesWentAway, wake: wake, logger: logger
        )
        return Component("alertPlanner", failures: [metrics.failures], metrics: metrics.write, run: planner.run)
    }

    /// The outbox in Parley's own database, and one component for each of the others.
    static func outboxComponents(_ settings: Settings, _ store: Store, logger: Logger) -> [Component] {
        let metrics = OutboxMetrics(databaseCount: settings.outboxURLs.count)
        let pump = OutboxPump(store: store, limits: settings.limits, metrics: metrics, logger: logger)
        // The readers log what fails themselves, once. The connections would log each attempt.
        var quiet = logger
        quiet.logLevel = .critical
        let node = String(UInt64.random(in: 0...(.max)), radix: 36)
        let readers = settings.outboxURLs.enumerated().map { [quiet] index, url in
            OutboxReader(
                number: index + 1, database: OutboxDatabase(conninfo: url, node: node, logger: quiet),
                place: ConnectionString.redacted(url), store: store, limits: settings.limits, metrics: metrics,
                logger: logger)
        }
        return [Component("outbox", failures: [metrics.failures], metrics: metrics.write, run: pump.run)]
            + readers.map { Component("outboxReader", run: $0.run) }
    }

    static func commandComponent(_ settings: Settings, _ store: Store, logger: Logger) -> Component {
        let metrics = CommandMetrics()
        let worker = CommandWorker(settings, store: store, metrics: metrics, logger: logger)
        return Component("commands", failures: [metrics.failures], metrics: metrics.write, run: worker.run)
    }

    static func maintenanceComponents(
        _ settings: Settings, _ database: Database, _ store: Store, _ log: LogComponents<SendWaiter>,
        imports: ImportMetrics, logger: Logger
    ) -> [Component] {
        let (logMetrics, search, sessions) = (LogMaintenanceMetrics(), SearchMetrics(), SessionMetrics())
        let (retention, erasure, announcements) = (RetentionMetrics(), ErasureMetrics(), AnnouncementMetrics())
        let (hub, reports, holds) = (log.hub, ReportMetrics(), HoldMetrics())
        let maintenance = LogMaintenance(
            store: store, trimmer: LogTrimmer(database.listenSettings, days: settings.logDays, logger: logger),
            sessions: log.sessions, metrics: logMetrics, days: settings.logDays, head: { hub.head.position },
            logger: logger)
        let indexer = SearchIndexer(store: store, metrics: search, head: { hub.head.position }, logger: logger)
        let sessionSweep = SessionSweep(
            store: store, idleDays: settings.sessionIdleDays, metrics: sessions, logger: logger)
        let retentionSweep = RetentionSweep(
            store: store, silentDays: settings.deviceSilentDays, maxS: settings.limits.retentionMaxS,
            metrics: retention, logger: logger)
        let erasureSweep = ErasureSweep(store: store, metrics: erasure, logger: logger)
        let announcer = AnnouncementWorker(store: store, metrics: announcements, logger: logger)
        let holdSweep = HoldSweep(store: store, metrics: holds, logger: logger)
        let importSweep = ImportSweep(store: store, metrics: imports, logger: logger)
        let reportCounting = ReportCounting(store: store, metrics: reports, logger: logger)
        return [
            Component(
                "logMaintenance", failures: [logMetrics.failures], metrics: logMetrics.write, run: maintenance.run),
            Component("searchIndexer", failures: [search.failures], metrics: search.write, run: indexer.run),
            Component("sessionSweep", failures: [sessions.failures], metrics: sessions.write, run: sessionSweep.run),
            Component(
                "retentionSweep", failures: [retention.failures], metrics: retention.write, run: retentionSweep.run),
            Component("erasureSweep", failures: [erasure.failures], metrics: erasure.write, run: erasureSweep.run),
            Component(
                "announcements", failures: [announcements.failures], metrics: announcements.write, run: announcer.run),
            Component("imports", failures: [imports.failures], metrics: imports.write, run: importSweep.run),
            Component("reportCounting", failures: [reports.failures], metrics: reports.write, run: reportCounting.run),
            Component("holdSweep", failures: [holds.failures], metrics: holds.write, run: holdSweep.run),
        ]
    }
}
