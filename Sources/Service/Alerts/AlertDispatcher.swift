// Sends the alerts that wait in the database: a lane a platform, so that one that is down doesn't hold up the others.
import Domain
import Foundation
import Log
import Logging
import Outbound
import Push
import ServiceConfiguration
import Store

struct AlertDispatcher: Sendable {
    /// Between looks whether there is something due that nobody told us of. An index probe a platform.
    private static let interval = Duration.seconds(1)
    private static let queueInterval = Duration.seconds(10)
    private static let sweepInterval = Duration.seconds(60)
    private static let sweepLimit = 1_000
    /// For alerts under way while the node stops.
    private static let closeMax = Duration.seconds(2)
    private static let keyName = "webpush"

    private let lanes: [AlertLane]
    private let store: Store
    private let metrics: AlertMetrics
    private let lifeSeconds: Int
    private let logger: Logger

    /// The key pair of Web Push, the same for all nodes and for good, whether or not it is sent: browsers may
    /// subscribe before.
    static func keys(_ store: Store) async throws -> VAPIDKeyPair {
        let bytes = try await store.secret(named: keyName, otherwise: VAPIDKeyPair.make().privateBytes)
        guard let keys = VAPIDKeyPair(privateBytes: bytes) else {
            throw StartError("the database holds no good key for Web Push (push_secrets, \(keyName)).")
        }
        return keys
    }

    /// - keys: of Web Push.
    init(
        _ settings: Settings, keys: VAPIDKeyPair, store: Store, metrics: AlertMetrics, logger: Logger
    ) throws {
        if let file = settings.caFile, !FileManager.default.isReadableFile(atPath: file) {
            throw StartError("PARLEY_CA_FILE: \(file) can't be read.")
        }
        let lengths = AlertLane.Lengths(lifeSeconds: settings.pushLifeHours * 3_600)
        lanes = try AlertSender.configured(settings, keys: keys).map { platform, sender in
            let outbound = try Outbound(
                caFile: settings.caFile, allowPrivate: settings.pushAllowsPrivate,
                connectionsPerHostMax: settings.pushConnectionCountMax, inFlightMax: lengths.inFlightMax)
            return AlertLane(
                platform, sender, store: store, outbound: outbound, lengths: lengths, metrics: metrics[platform],
                logger: logger)
        }
        self.store = store
        self.metrics = metrics
        self.logger = logger
        lifeSeconds = lengths.lifeSeconds
    }

    /// There may be alerts that are due. From any thread.
    @Sendable func wake() {
        for lane in lanes { lane.wake() }
    }

    /// Runs until cancelled. Then alerts under way may still get there.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for lane in lanes { group.addTask { await lane.run(closeMax: Self.closeMax) } }
            group.addTask {
                while !lanes.isEmpty {
                    wake()
                    try await Ticker.sleep(Self.interval)
                }
            }
            group.addTask { try await every(Self.queueInterval) { try await lookAtQueues() } }
            group.addTask { try await every(Self.sweepInterval) { try await sweep() } }
        }
    }

    private func every(_ interval: Duration, _ work: () async throws -> Void) async throws {
        while true {
            do {
                try await work()
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                logger.warning("looking after alerts has to wait", metadata: ["reason": "\(error)"])
            }
            try await Ticker.sleep(interval)
        }
    }

    private func lookAtQueues() async throws {
        for lane in lanes {
            let age = try await store.alertQueueAgeMs(lane.platform)
            metrics[lane.platform].queueMs.store(age ?? 0, ordering: .relaxed)
        }
    }

    /// Where this node has no lane there may be none at all: what is too old there goes.
    private func sweep() async throws {
        let served = Set(lanes.map(\.platform))
        for platform in PushPlatform.allCases where !served.contains(platform) {
            while try await store.expireAlerts(
                platform, limit: Self.sweepLimit, lifeSeconds: lifeSeconds) >= Self.sweepLimit
            {}
        }
    }
}
