// One node of the service on a real database and a real socket, which all suites of this target share.
import API
import Credentials
import DelegatedTokens
import Domain
import Foundation
import Log
import Logging
import Postgres
import Push
import Store
import Synchronization
import Telemetry
import TestSupport
import Transport

/// Serves until the test process ends. Suites tell their people apart by their names.
struct TestNode: Sendable {
    /// Whose pages are let in.
    static let origin = "https://chat.example"

    let port: Int
    let database: String
    let store: Store
    let routes: [Route]
    static let adminToken = "admin-of-the-tests"
    /// Whose tokens it takes.
    let hostApp: HostApp
    private let directory: TemporaryDirectory

    static let webPushKey = "BA" + String(repeating: "A", count: 85)
    private static let start = Task { try await TestNode() }

    static func shared() async throws -> TestNode { try await start.value }

    private init() async throws {
        // Faults of the service show beside the tests that met them.
        var logger = Logger(label: "node", factory: StreamLogHandler.standardError(label:))
        logger.logLevel = .error
        let quiet = logger
        database = try await MigratedDatabase.create()
        var connection = PostgresSettings(conninfo: database, applicationName: "parley-test")
        connection.connectionCountMax = 10
        // As in a real node: what reads does so in read-only transactions.
        let store = Store(DatabasePools(connection, readTimeout: .seconds(3), logger: quiet))
        self.store = store
        let sessions = SessionCache(store)
        let hub = Hub(store: store, start: try await store.now(), send: SyncEndpoint.send)
        let listener = NotificationListener(connection, channel: Tail.channel, logger: quiet)
        let tail = Tail(store: store, listener: listener, hub: hub, sessions: sessions, logger: quiet)
        let writer = Writer(store, tail: tail, logger: quiet, answer: SendEndpoint.answer(logger: quiet))
        let reads = AccountReads(runningCountMax: 4)
        let authenticator = Authenticator(sessions: sessions) { tail.isFresh() }
        hostApp = try await HostApp(.es256)
        directory = try TemporaryDirectory()
        let keyFile = directory.path + "/jwks.json"
        try Data(HostApp.keySet(hostApp.key()).utf8).write(to: URL(filePath: keyFile))
        let delegation = Delegation(keys: try await KeyFile(path: keyFile, logger: quiet), expecting: .init())
        let metrics = RequestMetrics()
        var limits = Limits()
        // All suites come from one address, and all at once.
        limits.addressSignInCountMax = 1_000
        let api = API(
            store: store, writer: writer,
            presence: PresenceWorker(
                hub: hub, store: store,
                listener: NotificationListener(connection, channel: PresenceWorker.channel, logger: quiet),
                logger: quiet),
            authenticator: authenticator,
            hasher: PasswordHasher(cost: ScryptCost(logN: 4, r: 8, p: 1), workerCount: 2, waitingCountMax: 10_000),
            delegation: delegation,
            signIns: SignInLimits(
                rates: RateLimits(isOn: false, proxies: TrustedProxies(), store: store), limits: limits, logger: quiet),
            limits: limits,
            isReady: { tail.isFresh() },
            metrics: {
                var text = MetricsText()
                metrics.write(to: &text)
                return text
            },
            requestMetrics: metrics, log: RequestLog(logger: quiet, slow: nil), logger: quiet,
            adminToken: AdminToken(Self.adminToken),
            push: PushRegistration(
                webPushKey: Self.webPushKey,
                rules: PushTargetRules(allowsPrivate: false, isPoint: WebPushKeys.isPoint)), reads: reads)
        routes = api.routes
        let sync = SyncEndpoint(
            authenticator: authenticator, hub: hub, store: store, reads: reads, catchUp: tail.catchUp, logger: quiet)
        var settings = TransportSettings(host: "127.0.0.1", port: 0)
        settings.crossOrigin = CrossOriginPolicy(origins: [Self.origin])
        let server = try await HTTPServer.bind(
            settings, handler: APIHandler(api, sync: sync, crossOrigin: settings.crossOrigin), logger: quiet)
        port = server.port
        // Nothing ends them but the process: the suites that share the node run in any order.
        _ = Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await tail.run() }
                group.addTask { try await hub.run() }
                group.addTask { try await ReceiptWorker(untold: writer.untold, store: store, logger: quiet).run() }
                try await group.waitForAll()
            }
        }
        while !tail.isFresh() { try await Task.sleep(for: .milliseconds(5)) }
    }
}
