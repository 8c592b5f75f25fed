// One node of the service: its parts put together, run, and taken down in good order.
import API
import Basics
import Credentials
import DelegatedTokens
import Domain
import Foundation
import Linux
import Log
import Logging
import Postgres
import Push
import ServiceConfiguration
import Store
import Synchronization
import Transport
import UnixSignals

/// `parley serve`: the parts, listed dependencies first.
package struct Node: Sendable {
    let logger: Logger
    let settings: Settings
    let database: Database
    let pools: DatabasePools
    let store: Store
    /// Of the host app's tokens.
    let keys: KeyFile?
    let proxies: TrustedProxies
    let rates: RateLimits
    let accountReads: AccountReads
    let signIns: SignInLimits
    let sessions: SessionCache
    let hub: Hub
    let tail: Tail
    let writer: Writer<SendWaiter>
    let presence: PresenceWorker
    let devices: DevicePollWorker
    let requests = RequestMetrics()
    let streams = StreamMetrics()
    let server = Later<HTTPServer>()
    let upkeepMetrics = LogMaintenanceMetrics()
    let deliveryMetrics = DeliveryMetrics()
    let deviceMetrics = DevicePollMetrics()
    let pushMakerMetrics = AlertPlannerMetrics()
    let searchMetrics = SearchMetrics()
    let retentionMetrics = RetentionMetrics()
    let mailMetrics = MailMetrics()
    let hasher: PasswordHasher
    let mail: MailWorker?
    let pushMetrics = AlertMetrics()
    let pushKeys: VAPIDKeyPair
    let push: AlertDispatcher
    let sessionMetrics = SessionMetrics()
    let erasureMetrics = ErasureMetrics()
    let announcementMetrics = AnnouncementMetrics()
    let isClosing = Flag()

    /// Serves until SIGTERM or SIGINT. Throws when it can't start.
    package static func serve(_ settings: Settings) async throws {
        let logger = Logger(label: "parley")
        logger.info("settings", metadata: settings.effectiveMetadata)
        for name in settings.unknownVariables { logger.warning("\(name) is not a setting of this version") }
        raiseFileLimit(logger)
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        try await Database.open(settings, logger: logger) { database in
            try await database.prepareSchema(settings.migration, logger: logger)
            let pools = DatabasePools(
                database.settings, readTimeout: .milliseconds(settings.readTimeoutMs), logger: logger)
            do {
                let node = try await Node(settings, database, pools, logger)
                try await node.run(until: signals)
            } catch {
                await pools.shutdown()
                throw error
            }
            await pools.shutdown()
        }
        logger.info("stopped")
    }

    private init(_ settings: Settings, _ database: Database, _ pools: DatabasePools, _ logger: Logger) async throws {
        self.settings = settings
        self.database = database
        self.pools = pools
        self.logger = logger
        store = Store(pools)
        accountReads = AccountReads(runningCountMax: settings.accountReadCountMax)
        hasher = PasswordHasher(
            workerCount: settings.passwordWorkerCount > 0
                ? settings.passwordWorkerCount : PasswordHasher.workerCountOfMachine,
            waitingCountMax: settings.passwordQueueMax)
        mail = try MailWorker(settings, store: store, hasher: hasher, metrics: mailMetrics, logger: logger)
        pushKeys = try await AlertDispatcher.keys(store)
        push = try AlertDispatcher(settings, keys: pushKeys, store: store, metrics: pushMetrics, logger: logger)
        keys = try await Self.keys(settings, logger)
        proxies = try Self.proxies(settings.trustedProxies)
        rates = RateLimits(
            isOn: settings.rateLimitsEnabled, quotas: settings.rateQuotas, proxies: proxies, store: store)
        signIns = SignInLimits(rates: rates, limits: settings.limits, logger: logger)
        _ = try await store.extendLog(days: settings.logDays)
        try await SearchIndexer.configure(settings.searchConfiguration, store)
        sessions = SessionCache(store, idleDays: settings.sessionIdleDays)
        hub = Hub(store: store, start: try await store.now(), limits: settings.hubLimits, send: SyncEndpoint.send)
        let listener = NotificationListener(database.listenSettings, channel: Tail.channel, logger: logger)
        tail = Tail(store: store, listener: listener, hub: hub, sessions: sessions, logger: logger)
        presence = PresenceWorker(
            hub: hub, store: store,
            listener: NotificationListener(database.listenSettings, channel: PresenceWorker.channel, logger: logger),
            logger: logger)
        let calls = pushMakerMetrics
        devices = DevicePollWorker(
            node: String(UInt64.random(in: 0...(.max)), radix: 36), hub: hub, store: store, metrics: deviceMetrics,
            wentAway: { calls.call() }, logger: logger)
        writer = Writer(store, tail: tail, logger: logger, answer: SendEndpoint.answer(logger: logger))
    }

    private static func keys(_ settings: Settings, _ logger: Logger) async throws -> KeyFile? {
        guard let path = settings.jwtKeysFile else { return nil }
        do {
            return try await KeyFile(path: path, logger: logger)
        } catch {
            throw StartError("the keys of PARLEY_JWT_KEYS can't be read from \(path): \(error).")
        }
    }

    private static func proxies(_ texts: [String]) throws -> TrustedProxies {
        TrustedProxies(
            try texts.map { text in
                guard let range = AddressRange(parsing: text) else {
                    throw StartError("PARLEY_TRUSTED_PROXIES: \(text) is no address and no range of addresses.")
                }
                return range
            })
    }

    /// Each waiting client is an open file; systems give a process far fewer at first than it may have.
    private static func raiseFileLimit(_ logger: Logger) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        let now = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) != 0 {
            logger.warning("the limit of open files can't be raised", metadata: ["limit": "\(now)"])
        }
    }

    private func run(until signals: UnixSignalsSequence) async throws {
        let tls = try settings.tlsFiles.map { files in try TLSIdentity(files) }
        let server = try await listen(tls)
        let metricsServer = try await listenForScrapers()
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Those that end with the rest: by cancellation, once the last answer is out.
            group.addTask { try await tail.run() }
            group.addTask { try await hub.run() }
            group.addTask { try await upkeep.run() }
            group.addTask { try await presence.run() }
            group.addTask {
                try await DeliveredMarkWorker(hub: hub, store: store, metrics: deliveryMetrics, logger: logger).run()
            }
            group.addTask { try await devices.run() }
            group.addTask { try await pushMaker.run() }
            group.addTask { try await ReceiptWorker(untold: writer.untold, store: store, logger: logger).run() }
            group.addTask {
                let head: @Sendable () -> Position = { [hub] in hub.head.position }
                try await SearchIndexer(store: store, metrics: searchMetrics, head: head, logger: logger).run()
            }
            group.addTask {
                try await RetentionSweep(
                    store: store, silentDays: settings.deviceSilentDays, metrics: retentionMetrics, logger: logger
                ).run()
            }
            if let tls { group.addTask { [logger] in try await tls.follow(logger: logger) } }
            if let mail { group.addTask { try await mail.run() } }
            group.addTask { try await push.run() }
            group.addTask {
                try await SessionSweep(
                    store: store, idleDays: settings.sessionIdleDays, metrics: sessionMetrics, logger: logger
                ).run()
            }
            if let keys { group.addTask { try await keys.run() } }
            group.addTask {
                try await AnnouncementWorker(store: store, metrics: announcementMetrics, logger: logger).run()
            }
            group.addTask { try await ErasureSweep(store: store, metrics: erasureMetrics, logger: logger).run() }
            if let embedded = database.embedded {
                group.addTask {
                    while true {
                        let reason = try await embedded.waitUntilExit()
                        logger.error(
                            "PostgreSQL ended by itself and is started again", metadata: ["reason": "\(reason)"])
                        try await embedded.restart()
                    }
                }
            }
            group.addTask {
                while !tail.isFresh() { try await Task.sleep(for: .milliseconds(5)) }
                // In a URL an IPv6 address stands in brackets.
                let host = settings.httpHost.contains(":") ? "[\(settings.httpHost)]" : settings.httpHost
                print("parley is listening on http\(tls == nil ? "" : "s")://\(host):\(server.port)")
                fflush(nil)
            }
            group.addTask {
                for await signal in signals {
                    logger.info("stopping", metadata: ["signal": "\(signal)"])
                    Watchdog.start(seconds: 9)
                    await stop(server, signal)
                    await metricsServer?.drain(deadline: .zero)
                    throw Stopped()
                }
            }
            do {
                // Not waitForAll, which rethrows only when all have ended.
                while try await group.next() != nil {}
            } catch is Stopped {
                group.cancelAll()
            }
        }
    }

    private var upkeep: LogMaintenance {
        LogMaintenance(
            store: store, trimmer: LogTrimmer(database.listenSettings, days: settings.logDays, logger: logger),
            sessions: sessions, metrics: upkeepMetrics, days: settings.logDays, head: { [hub] in hub.head.position },
            logger: logger)
    }

    private var pushMaker: AlertPlanner {
        AlertPlanner(
            store: store, lifeSeconds: settings.pushLifeHours * 3_600, metrics: pushMakerMetrics,
            head: { [hub] in hub.head.position }, wake: push.wake, logger: logger)
    }

    private struct Stopped: Error {}

    /// First not ready, then the polls, then the rest of the requests, then what they wrote.
    private func stop(_ server: HTTPServer, _ signal: UnixSignal) async {
        let drain = Duration.seconds(settings.drainSeconds)
        // Who probes must have seen the node unready before it refuses connections. Somebody at a terminal needn't wait.
        let unreadyUntil = ContinuousClock.now + (signal == .sigterm ? min(drain, .seconds(1)) : .zero)
        isClosing.set()
        server.setClosing()
        await hub.drain(over: drain)
        try? await Task.sleep(until: unreadyUntil, clock: .continuous)
        await server.stopAccepting()
        await server.drain(deadline: .seconds(2))
        writer.close()
        try? await sessions.flush()
        try? await devices.leave()
    }

    private func listen(_ tls: TLSIdentity?) async throws -> HTTPServer {
        var transport = TransportSettings()
        transport.tls = tls
        transport.host = settings.httpHost
        transport.port = settings.httpPort
        transport.connectionCountMax = settings.connectionCountMax
        transport.addressSharePercent = settings.addressConnectionsPercent
        transport.trustedProxies = proxies
        transport.incomingTotalByteCountMax = settings.incomingByteCountMax
        transport.bodyByteCountMax = settings.limits.bodyByteCountMax
        if !settings.corsOrigins.isEmpty { transport.crossOrigin = CrossOriginPolicy(origins: settings.corsOrigins) }
        let isReady: @Sendable () -> Bool = { [tail, isClosing] in tail.isFresh() && !isClosing.isSet }
        let authenticator = Authenticator(sessions: sessions) { [tail] in tail.isFresh(within: .seconds(1)) }
        let sync = SyncEndpoint(
            authenticator: authenticator, hub: hub, store: store, reads: accountReads, catchUp: tail.catchUp,
            streams: streams, logger: logger)
        let delegation = keys.map {
            Delegation(
                keys: $0, expecting: .init(issuer: settings.jwtIssuer, audience: settings.jwtAudience))
        }
        let handler = APIHandler(
            API(
                store: store, writer: writer, presence: presence, authenticator: authenticator,
                hasher: hasher, delegation: delegation, mailQueued: mail?.wake, signIns: signIns,
                limits: settings.limits, isReady: isReady,
                metrics: { [self] in metrics() }, requestMetrics: requests,
                log: RequestLog(
                    logger: logger, slow: settings.slowRequestMs > 0 ? .milliseconds(settings.slowRequestMs) : nil),
                logger: logger, adminToken: settings.adminToken.map(AdminToken.init),
                metricsAccess: settings.metricsInUse.access,
                push: PushRegistration(
                    webPushKey: pushKeys.publicText,
                    rules: PushTargetRules(
                        allowsPrivate: settings.pushAllowsPrivate, isPoint: WebPushKeys.isPoint)),
                reads: accountReads),
            sync: sync, crossOrigin: transport.crossOrigin)
        let server = try await HTTPServer.bind(transport, handler: handler, logger: logger)
        self.server.set(server)
        return server
    }

    /// Serves `/metrics` at an address of its own, where one is set.
    private func listenForScrapers() async throws -> HTTPServer? {
        guard case .address(let host, let port) = settings.metricsInUse else { return nil }
        var transport = TransportSettings(host: host, port: port)
        transport.threadCount = 1
        transport.connectionCountMax = 64
        let handler = MetricsHandler { [self] in metrics() }
        return try await HTTPServer.bind(transport, handler: handler, logger: logger)
    }
}

extension Settings.Metrics {
    fileprivate var access: MetricsAccess {
        switch self {
        case .open: .open
        case .admin: .admin
        case .address: .elsewhere
        }
    }
}

extension Settings {
    fileprivate var hubLimits: HubLimits {
        var hub = HubLimits()
        hub.deviceWaitTickCount = pushWaitMs / HubLimits.tickMs
        hub.sessionPollCountMax = sessionPollCountMax
        hub.accountPollCountMax = accountPollCountMax
        return hub
    }

    fileprivate var tlsFiles: TLSFiles? {
        guard let tlsCertificateFile, let tlsKeyFile else { return nil }
        return TLSFiles(certificate: tlsCertificateFile, key: tlsKeyFile)
    }
}

/// What is there only after something that reads it.
final class Later<Value: Sendable>: Sendable {
    private let stored = Mutex<Value?>(nil)
    var value: Value? { stored.withLock { $0 } }
    func set(_ value: Value) { stored.withLock { $0 = value } }
}

/// Set once.
final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

/// Ends the process when its orderly end takes too long, a database that hangs included: what it leaves is what a crash
/// would leave, and that loses nothing.
enum Watchdog {
    static func start(seconds: Int) {
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: Double(seconds))
            StandardError.write("parley: stopping took too long; leaving.\n")
            _exit(0)
        }
    }
}
