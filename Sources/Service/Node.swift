// One node of the service: its features, put together in one place for `parley serve` and for the tests.
import API
import Credentials
import Logging
import ServiceConfiguration
import Store
import WebClient
import Workers

/// A node. Its calls, what runs in it, its metrics and failure counts all follow from the list of its features.
package struct Node: Sendable {
    let core: NodeCore
    let api: API

    /// Puts the features together. Nothing runs and nothing listens yet.
    ///
    /// - Parameters:
    ///   - pools: the connections to `database`.
    ///   - hasher: overrides the settings' one, for tests: a cheaper one.
    /// - Throws: `StartError` for a setting that can't be used, `Problem` or `PostgresError` for the database.
    package init(
        _ settings: Settings, _ database: Database, _ pools: DatabasePools, hasher: PasswordHasher? = nil,
        logger: Logger
    ) async throws {
        core = try await NodeCore(settings, database, pools, hasher: hasher, logger: logger)
        api = API(
            core.calls, features: try await Self.features(core), policy: core.policy, hasher: core.hasher,
            webClient: settings.webClientEnabled ? .embedded(named: settings.appName) : nil,
            slow: settings.slowRequestMs > 0 ? .milliseconds(settings.slowRequestMs) : nil,
            operation: OperationSettings(
                isReady: { [tail = core.log.tail, isClosing = core.isClosing] in tail.isFresh() && !isClosing.isSet },
                metricsAccess: settings.metricsAccess),
            offer: settings.offer)
    }

    /// The features with work of their own or with settings. Each is in its folder. API.swift adds those that are calls
    /// and no more.
    private static func features(_ node: NodeCore) async throws -> [Feature] {
        let (settings, store, logger) = (node.settings, node.store, node.logger)
        let objects = try ObjectStoreFeature(settings, store: store, logger: logger)
        return [
            node.feature,
            try .signIns(node),
            try await .alerts(node),
            objects.feature,
            try .attachments(node, objects.access),
            .changes(node),
            try .webhooks(node),
            .commands(node),
            .outbox(node),
            .archives(node, objects.access),
            Feature(components: [
                LogMaintenance(node).component,
                SearchIndexer(store: store, head: node.head, logger: logger).component,
                SessionSweep(store: store, idleDays: settings.sessionIdleDays, logger: logger).component,
                RetentionSweep(
                    store: store, silentDays: settings.deviceSilentDays, maxS: settings.limits.retentionMaxS,
                    logger: logger
                ).component,
                ErasureSweep(store: store, logger: logger).component,
                AnnouncementWorker(store: store, logger: logger).component,
                HoldSweep(store: store, logger: logger).component,
                ReportCounting(store: store, logger: logger).component,
            ]),
        ]
    }

    package var store: Store { core.store }
    package var routes: [Route] { api.routes }
    package var components: [Component] { api.components }
    /// Whether the node's caches are up to date with the log.
    package var isFresh: Bool { core.log.tail.isFresh() }
}
