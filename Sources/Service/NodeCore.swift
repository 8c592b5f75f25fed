// What the features of a node share: the settings, the database, the log, and what their calls need.
import API
import Basics
import Credentials
import Domain
import EmbeddedPostgres
import Log
import Logging
import ServiceConfiguration
import Store
import Telemetry
import Transport
import Workers

/// What the features of a node share.
struct NodeCore: Sendable {
    let settings: Settings
    let database: Database
    let store: Store
    let log: LogComponents<SendWaiter>
    let calls: CallServices
    let hasher: PasswordHasher
    let policy: PolicyGate?
    let proxies: TrustedProxies
    let tls: TLSIdentity?
    let logger: Logger
    let server = Later<HTTPServer>()
    let isClosing = Flag()
    /// Set when devices stopped polling that may lack events.
    let devicesWentAway: Flag
    let pools: DatabasePools
    private let policyMetrics = PolicyMetrics()

    /// - Parameter hasher: overrides the settings' one.
    /// - Throws: as `Node.init`.
    init(
        _ settings: Settings, _ database: Database, _ pools: DatabasePools, hasher: PasswordHasher?, logger: Logger
    ) async throws {
        if let path = settings.caFile { try SettingFile(variable: "PARLEY_CA_FILE", path: path).checkReadable() }
        let store = Store(pools)
        let proxies = try settings.makeTrustedProxies()
        _ = try await store.extendLog(days: settings.logDays)
        try await SearchIndexer.configure(settings.searchConfiguration, store)
        let devicesWentAway = Flag()
        log = try await LogComponents(
            store, listener: { NotificationListener(database.listenSettings, channel: $0, logger: logger) },
            sessions: SessionCache(store, idleDays: settings.sessionIdleDays), limits: settings.hubLimits,
            logger: logger, devicesWentAway: { devicesWentAway.set() }, send: SyncEndpoint.send,
            answer: SendEndpoint.answer(logger: logger))
        tls = try settings.tlsFiles.map { files in try TLSIdentity(files) }
        calls = CallServices(
            store: store, log: log,
            rates: RateLimits(
                isOn: settings.rateLimitsEnabled, quotas: settings.rateQuotas, proxies: proxies, store: store),
            reads: .reads(accountCountMax: settings.accountReadCountMax), limits: settings.limits,
            origins: PublicOrigins(configured: settings.publicURL, proxies: proxies, usesTLS: tls != nil),
            adminTokens: settings.adminTokens.map(AdminToken.init), logger: logger)
        policy = try settings.makePolicyGate(policyMetrics, logger: logger)
        self.hasher = hasher ?? settings.makePasswordHasher()
        (self.settings, self.database, self.pools, self.store) = (settings, database, pools, store)
        (self.proxies, self.devicesWentAway, self.logger) = (proxies, devicesWentAway, logger)
    }

    /// The log's head, as this node knows it.
    @Sendable func head() -> Position { log.hub.head.position }

    /// The components of the node itself.
    var feature: Feature {
        Feature(
            components: [
                Component("embeddedPostgres", of: database.embedded, run: restart),
                Component("databasePools", metrics: pools.writeMetrics),
                Component("replica", metrics: store.replicaMetrics.write) { [store] in try await store.followReplica()
                },
            ] + log.components + [
                Component("http", metrics: { [server] in server.value?.statistics.write(to: &$0) }),
                Component("tls", of: tls) { [logger] in try await $0.follow(logger: logger) },
                Component("passwordHasher", metrics: hasher.writeMetrics),
                Component("policy", metrics: policyMetrics.write),
                Component("process", metrics: Self.writeProcess),
            ])
    }

    /// Restarts the embedded PostgreSQL whenever it stops. Runs until cancelled.
    @Sendable private func restart(_ server: EmbeddedPostgres) async throws {
        while true {
            let reason = try await server.waitUntilExit()
            logger.error("PostgreSQL stopped unexpectedly; restarting it", metadata: ["reason": "\(reason)"])
            try await server.restart()
        }
    }

    /// Reads /proc, among others.
    @Sendable private static func writeProcess(to text: inout MetricsText) {
        text.gauge("parley_build_info", "1, with the running `version`.", [([("version", Invocation.version)], 1)])
        ProcessMetrics.read()?.write(to: &text)
    }
}
