// One node of the service on a real database and a real socket, which all suites of this target share.
import API
import Credentials
import Cryptography
import Foundation
import Logging
import Service
import ServiceConfiguration
import Store
import TestSupport

/// Serves until the test process ends. Suites share the node, so their people have unique names.
struct TestNode: Sendable {
    /// The origin whose pages may call the API.
    static let origin = "https://chat.example"
    static let adminToken = "admin-of-the-tests"
    /// The workers that run. Others would change rows that the tests check.
    private static let running: Set = ["tail", "hub", "receipts", "attachmentChecker"]

    let port: Int
    let database: String
    let store: Store
    let routes: [Route]
    /// The host app whose tokens the node accepts.
    let hostApp: HostApp
    private let directory: TemporaryDirectory

    private static let start = Task { try await TestNode() }

    static func shared() async throws -> TestNode { try await start.value }

    /// - Parameters:
    ///   - database: another node's; nil for one of its own.
    ///   - change: changes the settings.
    init(on database: String? = nil, _ change: (inout Settings) -> Void = { _ in }) async throws {
        // Errors of the service are printed next to the tests that caused them.
        var logger = Logger(label: "node", factory: StreamLogHandler.standardError(label:))
        logger.logLevel = .error
        self.database = if let database { database } else { try await MigratedDatabase.create() }
        hostApp = try HostApp(.es256)
        directory = try TemporaryDirectory()
        let keyFile = directory.path + "/jwks.json"
        try Data(HostApp.keySet(hostApp.key()).utf8).write(to: URL(filePath: keyFile))
        var settings = Settings()
        settings.databaseURL = self.database
        settings.httpHost = "127.0.0.1"
        settings.httpPort = 0
        // Nodes keep their connections until the process ends, and all share one server.
        if database != nil { settings.databaseConnectionCountMax = 5 }
        settings.jwtKeysFile = keyFile
        try Self.configurePush(&settings, in: directory.path)
        settings.adminTokens = [Self.adminToken]
        settings.corsOrigins = [Self.origin]
        settings.slowRequestMs = 0
        settings.rateLimitsEnabled = false
        // All suites sign in from one address, and at the same time.
        settings.limits.addressSignInCountMax = 1_000
        change(&settings)
        let service = try await Database.open(settings, logger: logger)
        let node = try await Node(
            settings, service, service.makePools(settings, logger: logger),
            hasher: PasswordHasher(cost: ScryptCost(logN: 4, r: 8, p: 1), workerCount: 2, waitingCountMax: 10_000),
            logger: logger)
        (store, routes) = (node.store, node.routes)
        port = try await node.listen().port
        // The workers run until the process ends, because the suites that share the node run in any order.
        _ = Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for component in node.components where Self.running.contains(component.name) {
                    if let run = component.run { group.addTask { try await run() } }
                }
                try await group.waitForAll()
            }
        }
        try await eventually("the node is fresh") { node.isFresh }
    }

    /// Devices of all platforms may register. Nothing is sent, because the workers for that do not run.
    private static func configurePush(_ settings: inout Settings, in directory: String) throws {
        let key = directory + "/apns.p8"
        try Data(P256.PrivateKey.make().pem().utf8).write(to: URL(filePath: key))
        (settings.apnsKeyFile, settings.apnsKeyID, settings.apnsTeamID) = (key, "KEY4567890", "TEAM567890")
        let account = [
            "type": "service_account", "project_id": "tests", "private_key_id": "k1",
            "client_email": "push@tests.example", "token_uri": "https://oauth.example/token",
            "private_key": HostApp.rsaTestKey,
        ]
        let file = directory + "/fcm.json"
        try JSONEncoder().encode(account).write(to: URL(filePath: file))
        settings.fcmAccountFile = file
        settings.webPushSubject = "mailto:push@example.org"
    }
}
