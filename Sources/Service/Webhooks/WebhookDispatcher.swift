// Which endpoints this node delivers to: it claims those that no node has, and gives each a lane of its own.
import API
import Basics
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
/// endpoints and continues from the database.
struct WebhookDispatcher: Sendable {
    private static let testsInFlightMax = 8
    private static let inFlightMax = Pace.Rules.webhookWindow
    /// Ids of test events begin with this; they are in no log.
    private static let testPrefix = "test_"

    private let store: Store
    private let metrics: WebhookMetrics
    private let retries: Retries
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
        retries = .webhook(seconds: settings.webhookRetries)
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
            while true {
                if lanes.isTendDue(), let started = try await worker.attempt({ try await tend() }) {
                    for lane in started {
                        group.addTask {
                            await lane.run()
                            lanes.remove(lane.id)
                        }
                    }
                }
                lanes.wake()
                try await Ticker.sleep()
            }
        }
    }

    /// Renews, claims and stops. Returns the new lanes.
    private func tend() async throws -> [WebhookLane] {
        let began = ContinuousClock.now
        let held = try await store.tendWebhooks(
            node: node, held: lanes.ids, limit: WebhookLeases.claimMax, leaseSeconds: WebhookLeases.leaseSeconds)
        let (unserved, leaseEnd) = lanes.update(held, began: began)
        return unserved.compactMap { webhook in
            do {
                let lane = try lane(of: webhook, leaseEnd: leaseEnd)
                lanes.add(lane)
                return lane
            } catch {
                metrics.failures.add()
                lanes.remove(webhook.id)
                logger.warning(
                    "delivering to a webhook cannot begin; retrying in 1 s",
                    metadata: ["webhook": "\(webhook.id)", "reason": "\(error)"])
                return nil
            }
        }
    }

    private func lane(of webhook: LeasedWebhook, leaseEnd: ContinuousClock.Instant) throws -> WebhookLane {
        WebhookLane(
            webhook, leaseEnd: leaseEnd, retries: retries, store: store,
            outbound: try Outbound(
                caFile: caFile, allowPrivate: allowsPrivate, inFlightMax: Self.inFlightMax,
                waitingCountMax: Self.inFlightMax),
            metrics: metrics, head: head, logger: logger)
    }

    /// Sends a test event at once, and returns what the endpoint answered.
    @Sendable func test(_ target: WebhookTarget) async -> WebhookTest {
        let (id, now, began) = (Self.testPrefix + WebhookID.make().description, WallClock.seconds, ContinuousClock.now)
        let message = WebhookMessage(
            id: id, type: WebhookTest.eventType, at: Timestamp(microsSince1970: WallClock.ms * 1_000), thread: nil,
            actor: nil, data: JSONText(.object([])), isThin: false)
        let transfer = message.transfer(to: target.url, secrets: target.secrets.map(WebhookSecret.init), now: now)
        let verdict = await withCheckedContinuation { continuation in
            testing.begin([
                Outbound.Job(transfer) { continuation.resume(returning: WebhookVerdict($0, now: WallClock.seconds)) }
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

/// The lanes of a node by their endpoints. `WebhookLeases` decides which there are. From any thread.
private final class Lanes: Sendable {
    private struct State {
        var leases = WebhookLeases()
        var lanes: [WebhookID: WebhookLane] = [:]
    }

    private let state = Mutex(State())

    var ids: [WebhookID] { state.withLock { $0.leases.ids } }

    func isTendDue() -> Bool { state.withLock { $0.leases.isTendDue(now: .now) } }

    func add(_ lane: WebhookLane) {
        state.withLock { $0.lanes[lane.id] = lane }
        lane.wake()
    }

    func remove(_ id: WebhookID) {
        state.withLock { state in
            state.lanes[id] = nil
            state.leases.ended(id)
        }
    }

    func wake() {
        for lane in state.withLock({ Array($0.lanes.values) }) { lane.wake() }
    }

    /// Renews the lanes of `held`, and stops the others. Returns the endpoints without a lane.
    func update(
        _ held: [LeasedWebhook], began: ContinuousClock.Instant
    ) -> (unserved: [LeasedWebhook], leaseEnd: ContinuousClock.Instant) {
        let (changes, lanes) = state.withLock { ($0.leases.tended(held.map(\.id), began: began), $0.lanes) }
        for id in changes.stopped { lanes[id]?.stop() }
        let started = Set(changes.started)
        for webhook in held where !started.contains(webhook.id) {
            lanes[webhook.id]?.renew(webhook, leaseEnd: changes.leaseEnd)
        }
        return (held.filter { started.contains($0.id) }, changes.leaseEnd)
    }

    func lags() -> [WebhookMetrics.Lag] {
        let nowMs = WallClock.ms
        return state.withLock { Array($0.lanes.values) }.sorted { $0.id < $1.id }.map { lane in
            let lag = lane.lag(nowMs: nowMs)
            return .init(webhook: lane.id.description, eventCount: lag.eventCount, seconds: lag.seconds)
        }
    }
}

extension Feature {
    /// The calls on endpoints, and delivering to them.
    static func webhooks(_ node: NodeCore) throws -> Feature {
        let (settings, metrics) = (node.settings, WebhookMetrics())
        let dispatcher = try WebhookDispatcher(
            settings, store: node.store, metrics: metrics, head: node.head, logger: node.logger)
        let calls = WebhookCalls(
            store: node.store, allowsPrivate: settings.pushAllowsPrivate, test: dispatcher.test)
        return Feature(
            routes: calls.routes,
            components: [
                Component("webhooks", failures: [metrics.failures], metrics: metrics.write, run: dispatcher.run)
            ])
    }
}
