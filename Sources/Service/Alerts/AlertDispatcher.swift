// Sends the alerts that are due, each platform in a loop of its own, so that a platform that is down doesn't delay the
// others.
import Domain
import Log
import Logging
import Outbound
import Push
import ServiceConfiguration
import Store
import Telemetry
import Workers

struct AlertDispatcher: Sendable {
    /// Between checks for due alerts that no wake-up announced. A check costs an index probe for each platform.
    static let interval = Duration.seconds(1)
    private static let queueInterval = Duration.seconds(10)
    private static let sweepInterval = Duration.seconds(60)
    private static let sweepLimit = 1_000
    /// How long transfers under way may continue while the node stops.
    private static let closeMax = Duration.seconds(2)
    private static let keyName = "webpush"

    private let loops: [AlertLoop]
    private let store: Store
    private let metrics: AlertMetrics
    private let lifeSeconds: Int
    private let logger: Logger
    /// Failures of the checks of the queues.
    private let queueFailures = Counter()

    /// Returns the key pair of Web Push. All nodes share it and it never changes, whether or not Web Push is
    /// configured: browsers may subscribe before.
    static func keys(_ store: Store) async throws -> VAPIDKeyPair {
        let bytes = try await store.secret(named: keyName, otherwise: VAPIDKeyPair.make().privateBytes)
        guard let keys = VAPIDKeyPair(privateBytes: bytes) else {
            throw StartError("the database holds no valid key for Web Push (table push_secrets, row \(keyName)).")
        }
        return keys
    }

    /// - Parameter keys: of Web Push.
    init(
        _ settings: Settings, keys: VAPIDKeyPair, store: Store, metrics: AlertMetrics, logger: Logger
    ) throws {
        let limits = AlertLoop.Limits(lifeSeconds: settings.pushLifeHours * 3_600)
        loops = try AlertSender.configured(settings, keys: keys).map { platform, sender in
            let outbound = try Outbound(
                caFile: settings.caFile, allowPrivate: settings.pushAllowsPrivate,
                connectionsPerHostMax: settings.pushConnectionCountMax, inFlightMax: limits.inFlightMax)
            return AlertLoop(
                platform, sender, store: store, outbound: outbound, limits: limits, metrics: metrics[platform],
                logger: logger)
        }
        self.store = store
        self.metrics = metrics
        self.logger = logger
        lifeSeconds = limits.lifeSeconds
    }

    /// Failures of all loops, and of the checks of the queues.
    var failures: [Counter] { loops.map(\.metrics.failures) + [queueFailures] }

    /// Makes all loops look for due alerts. From any thread.
    @Sendable func wake() {
        for loop in loops { loop.wake() }
    }

    /// Runs until cancelled. Alerts under way then have two seconds to arrive.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for loop in loops { group.addTask { await loop.run(closeMax: Self.closeMax) } }
            group.addTask {
                try await worker("measuring the queue of alerts", every: Self.queueInterval).run {
                    try await measureQueues()
                    return .idle
                }
            }
            group.addTask {
                try await worker("dropping expired alerts", every: Self.sweepInterval).run {
                    try await sweep()
                    return .idle
                }
            }
        }
    }

    private func worker(_ operation: String, every interval: Duration) -> Worker {
        Worker(operation, every: interval, retryAfter: interval, failures: queueFailures, logger: logger)
    }

    private func measureQueues() async throws {
        for loop in loops {
            let age = try await store.alertQueueAgeMs(loop.platform)
            metrics[loop.platform].queueMs.store(age ?? 0, ordering: .relaxed)
        }
    }

    /// Drops expired alerts of platforms without a loop here, because no other node may have one either.
    private func sweep() async throws {
        let served = Set(loops.map(\.platform))
        for platform in PushPlatform.allCases where !served.contains(platform) {
            while try await store.expireAlerts(
                platform, limit: Self.sweepLimit, lifeSeconds: lifeSeconds) >= Self.sweepLimit
            {}
        }
    }
}
