// Which endpoints this node delivers to: it claims those that no node has, and gives each a lane of its own.
import API
import Domain
import Log
import Logging
import Outbound
import ServiceConfiguration
import Store
import Synchronization
import Telemetry
import Webhooks
import Workers

/// Runs on every node. Each endpoint has one node at a time, by a lease. When a node dies, another one claims its
/// endpoints and goes on from the database.
struct WebhookDispatcher: Sendable {
    private static let leaseSeconds = 25
    /// The share of a lease that is left at least, whenever it was looked after: see webhook_tend.
    private static let leaseSafe = Duration.seconds(15)
    /// Endpoints that a node claims at once, so that nodes that start together share them.
    private static let claimMax = 8
    /// Between two looks at the leases, in ticks of the lanes.
    private static let tickCount = 4
    private static let testsInFlightMax = 8
    private static let inFlightMax = WebhookPace.windowMax
    /// Ids of test events begin with this; they are in no log.
    private static let testPrefix = "test_"

    private let store: Store
    private let metrics: WebhookMetrics
    private let retries: WebhookRetries
    private let allowsPrivate: Bool
    private let caFile: String?
    private let head: @Sendable () -> Position
    private let logger: Logger
    private let node = WebhookID.make().description
    private let testing: Outbound
    private let lanes = Lanes()

    init(
        _ settings: Settings, store: Store, metrics: WebhookMetrics, head: @escaping @Sendable () -> Position,
        logger: Logger
    ) throws {
        self.store = store
        self.metrics = metrics
        self.head = head
        self.logger = logger
        retries = WebhookRetries(seconds: settings.webhookRetries)
        allowsPrivate = settings.pushAllowsPrivate
        caFile = settings.caFile
        testing = try Outbound(
            caFile: settings.caFile, allowPrivate: settings.pushAllowsPrivate, inFlightMax: Self.testsInFlightMax)
        metrics.setLags { [lanes] in lanes.lags() }
    }

    /// Runs until cancelled. Requests under way then have two seconds to end.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            let worker = Worker("looking after webhooks", failures: metrics.failures, logger: logger)
            var tick = 0
            while true {
                if tick.isMultiple(of: Self.tickCount), let started = try await worker.attempt({ try await tend() }) {
                    for lane in started {
                        group.addTask {
                            await lane.run()
                            lanes.remove(lane)
                        }
                    }
                }
                tick += 1
                lanes.wake()
                try await Ticker.sleep()
            }
        }
    }

    /// Renews, claims and stops. Returns the new lanes.
    private func tend() async throws -> [WebhookLane] {
        let began = ContinuousClock.now
        let held = try await store.tendWebhooks(
            node: node, held: lanes.ids, limit: Self.claimMax, leaseSeconds: Self.leaseSeconds)
        let leaseEnd = began + Self.leaseSafe
        let unserved = lanes.update(held, leaseEnd: leaseEnd)
        return try unserved.map { webhook in
            let lane = WebhookLane(
                webhook, leaseEnd: leaseEnd, retries: retries, store: store,
                outbound: try Outbound(
                    caFile: caFile, allowPrivate: allowsPrivate, inFlightMax: Self.inFlightMax,
                    waitingCountMax: Self.inFlightMax),
                metrics: metrics, head: head, logger: logger)
            lanes.add(lane)
            return lane
        }
    }

    /// Sends a test event at once, and returns what the endpoint answered.
    @Sendable func test(_ target: WebhookTarget) async -> WebhookTest {
        let (id, now, began) = (Self.testPrefix + WebhookID.make().description, UnixTime.now, ContinuousClock.now)
        let message = WebhookMessage(
            id: id, type: WebhookTest.eventType, at: Timestamp(microsSince1970: UnixTime.nowMs * 1_000), thread: nil,
            actor: nil, data: JSONText(.object([])), isThin: false)
        let transfer = message.transfer(to: target.url, secrets: target.secrets.map(WebhookSecret.init), now: now)
        let verdict = await withCheckedContinuation { continuation in
            testing.begin([
                Outbound.Job(transfer) { continuation.resume(returning: WebhookVerdict($0, now: UnixTime.now)) }
            ])
        }
        let ms = Int(began.duration(to: .now) / .milliseconds(1))
        return switch verdict {
        case .delivered(let status): WebhookTest(event: id, isDelivered: true, status: status, durationMs: ms)
        case .gone: WebhookTest(event: id, isDelivered: false, status: 410, reason: "status", durationMs: ms)
        case .failed(let status, let reason, _, _):
            WebhookTest(event: id, isDelivered: false, status: status, reason: reason.rawValue, durationMs: ms)
        case .unsent: WebhookTest(event: id, isDelivered: false, status: nil, reason: "busy", durationMs: ms)
        }
    }
}

/// The lanes of a node by their endpoints. From any thread.
private final class Lanes: Sendable {
    private let all = Mutex<[WebhookID: WebhookLane]>([:])

    var ids: [WebhookID] { all.withLock { Array($0.keys) } }

    func add(_ lane: WebhookLane) {
        all.withLock { $0[lane.id] = lane }
        lane.wake()
    }

    func remove(_ lane: WebhookLane) { all.withLock { $0[lane.id] = nil } }

    func wake() {
        for lane in all.withLock({ Array($0.values) }) { lane.wake() }
    }

    /// Renews the lanes of `held`, and stops the others. Returns the endpoints without a lane. An endpoint whose lane
    /// is ending gets the next one after that.
    func update(_ held: [LeasedWebhook], leaseEnd: ContinuousClock.Instant) -> [LeasedWebhook] {
        let lanes = all.withLock { $0 }
        let heldIDs = Set(held.map(\.id))
        for (id, lane) in lanes where !heldIDs.contains(id) { lane.stop() }
        return held.filter { webhook in
            lanes[webhook.id]?.renew(webhook, leaseEnd: leaseEnd)
            return lanes[webhook.id] == nil
        }
    }

    func lags() -> [WebhookMetrics.Lag] {
        let nowMs = UnixTime.nowMs
        return all.withLock { Array($0.values) }.sorted { $0.id < $1.id }.map { lane in
            let lag = lane.lag(nowMs: nowMs)
            return .init(webhook: lane.id.description, eventCount: lag.eventCount, seconds: lag.seconds)
        }
    }
}
