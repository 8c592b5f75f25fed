// One node of the service: its components, put together in one place for `parley serve` and for the tests.
import API
import Archives
import Credentials
import DelegatedTokens
import Domain
import Log
import Logging
import Push
import ServiceConfiguration
import Store
import Transport
import WebClient
import Workers

/// The components of a node. Each is listed once, in `components`. Running, metrics and failure counts follow from that
/// list.
package struct Node: Sendable {
    let settings: Settings
    let logger: Logger
    package let store: Store
    let log: LogComponents<SendWaiter>
    let changes: ChangesFeed
    let api: API
    let sync: SyncEndpoint
    let proxies: TrustedProxies
    let tls: TLSIdentity?
    /// Dependencies first.
    package let components: [Component]
    let metrics: MetricsPage
    /// The public key that browsers subscribe with.
    package let webPushKey: String
    let server: Later<HTTPServer>
    let isClosing: Flag

    /// Puts the components together. Nothing runs and nothing listens yet.
    ///
    /// - Parameters:
    ///   - pools: the connections to `database`.
    ///   - hasher: overrides the settings' one, for tests: a cheaper one.
    /// - Throws: `StartError` for a setting that can't be used, `Problem` or `PostgresError` for the database.
    package init(
        _ settings: Settings, _ database: Database, _ pools: DatabasePools, hasher: PasswordHasher? = nil,
        logger: Logger
    ) async throws {
        if let path = settings.caFile { try SettingFile(variable: "PARLEY_CA_FILE", path: path).checkReadable() }
        let store = Store(pools)
        let hasher = hasher ?? settings.makePasswordHasher()
        let mailMetrics = MailMetrics()
        let mail = try MailWorker(settings, store: store, hasher: hasher, metrics: mailMetrics, logger: logger)
        let pushKeys = try await AlertDispatcher.keys(store)
        let alertMetrics = AlertMetrics()
        let alerts = try AlertDispatcher(settings, keys: pushKeys, store: store, metrics: alertMetrics, logger: logger)
        let webhookMetrics = WebhookMetrics()
        let keys = try settings.makeKeyFile(logger: logger)
        let proxies = try settings.makeTrustedProxies()
        let rates = RateLimits(
            isOn: settings.rateLimitsEnabled, quotas: settings.rateQuotas, proxies: proxies, store: store)
        let reads = AccountReads(runningCountMax: settings.accountReadCountMax)
        let signIns = SignInLimits(rates: rates, limits: settings.limits, logger: logger)
        _ = try await store.extendLog(days: settings.logDays)
        try await SearchIndexer.configure(settings.searchConfiguration, store)
        let devicesWentAway = Flag()
        let log = try await LogComponents(
            store, listener: { NotificationListener(database.listenSettings, channel: $0, logger: logger) },
            sessions: SessionCache(store, idleDays: settings.sessionIdleDays), limits: settings.hubLimits,
            logger: logger, devicesWentAway: { devicesWentAway.set() }, send: SyncEndpoint.send,
            answer: SendEndpoint.answer(logger: logger))
        let webhooks = try WebhookDispatcher(
            settings, store: store, metrics: webhookMetrics, head: { [hub = log.hub] in hub.head.position },
            logger: logger)
        let policyMetrics = PolicyMetrics()
        let policy = try settings.makePolicyGate(policyMetrics, logger: logger)
        let tls = try settings.tlsFiles.map { files in try TLSIdentity(files) }
        let (requests, streams, hooks) = (RequestMetrics(), StreamMetrics(), HookMetrics())
        let (server, isClosing) = (Later<HTTPServer>(), Flag())

        var components = Self.databaseComponents(database, pools, logger: logger) + log.components
        components += [
            Component("http", metrics: { server.value?.statistics.write(to: &$0) }),
            Component("requests", metrics: requests.write),
            Component("streams", metrics: streams.write),
            Component("hooks", metrics: hooks.write),
            Component("policy", metrics: policyMetrics.write),
            Component("rateLimits", metrics: rates.write),
            Component("accountReads", metrics: reads.write),
            Component("signIns", metrics: signIns.write),
            Component("passwordHasher", metrics: hasher.writeMetrics),
            Component("tls", of: tls) { try await $0.follow(logger: logger) },
            Component("delegatedTokenKeys", of: keys) { try await $0.run() },
            Component("mail", of: mail, failures: [mailMetrics.failures], metrics: mailMetrics.write) {
                try await $0.run()
            },
            Component("alertDispatcher", failures: alerts.failures, metrics: alertMetrics.write, run: alerts.run),
            Component(
                "webhooks", failures: [webhookMetrics.failures], metrics: webhookMetrics.write, run: webhooks.run),
            Self.alertPlanner(settings, store, log, devicesWentAway, wake: alerts.wake, logger: logger),
        ]
        let imports = ImportMetrics()
        components += Self.maintenanceComponents(settings, database, store, log, imports: imports, logger: logger)
        components += Self.outboxComponents(settings, store, logger: logger)
        components.append(Self.commandComponent(settings, store, logger: logger))
        let attachments = try Self.attachmentComponents(settings, store, rates, logger: logger)
        components += attachments.components
        let changesMetrics = ChangesMetrics()
        changes = ChangesFeed(store: store, hub: log.hub, metrics: changesMetrics)
        let consumerLag = ConsumerLag(store: store, metrics: changesMetrics, logger: logger)
        components.append(
            Component(
                "changes", failures: [changesMetrics.failures], metrics: changesMetrics.write, run: consumerLag.run))
        let exports = ExportServices(metrics: ExportMetrics()) { [direct = database.listenSettings] scope in
            ArchiveReader(direct, scope, logger: logger)
        }
        components.append(Component("exports", metrics: exports.metrics.write))
        let metrics = MetricsPage(components: components)

        let authenticator = Authenticator(sessions: log.sessions, rates: rates) {
            log.tail.isFresh(within: .seconds(1))
        }
        api = API(
            store: store, writer: log.writer, presence: log.presence, authenticator: authenticator, hasher: hasher,
            delegation: keys.map {
                Delegation(keys: $0, expecting: .init(issuer: settings.jwtIssuer, audience: settings.jwtAudience))
            },
            mailQueued: mail?.wake, signIns: signIns, limits: settings.limits,
            isReady: { log.tail.isFresh() && !isClosing.isSet }, metrics: metrics.text, requestMetrics: requests,
            hookMetrics: hooks,
            log: RequestLog(
                logger: logger, slow: settings.slowRequestMs > 0 ? .milliseconds(settings.slowRequestMs) : nil),
            logger: logger, adminToken: settings.adminToken.map(AdminToken.init),
            metricsAccess: settings.metricsAccess,
            push: PushRegistration(
                webPushKey: pushKeys.publicText,
                rules: PushTargetRules(allowsPrivate: settings.pushAllowsPrivate, isPoint: WebPushKeys.isPoint)),
            reads: reads, attachments: attachments.services, changesFeed: changes,
            webClient: settings.webClientEnabled ? .embedded : nil,
            webhooks: WebhookServices(allowsPrivate: settings.pushAllowsPrivate, test: webhooks.test), policy: policy,
            exports: exports, imports: ImportServices(metrics: imports))
        sync = SyncEndpoint(
            authenticator: authenticator, hub: log.hub, store: store, reads: reads, catchUp: log.tail.catchUp,
            streams: streams, logger: logger)
        (self.settings, self.logger, self.store, self.log, self.components) = (settings, logger, store, log, components)
        (self.proxies, self.tls, self.metrics) = (proxies, tls, metrics)
        (webPushKey, self.server, self.isClosing) = (pushKeys.publicText, server, isClosing)
    }

    package var routes: [Route] { api.routes }
    /// Whether the node's caches are up to date with the log.
    package var isFresh: Bool { log.tail.isFresh() }
}
