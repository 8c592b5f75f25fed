// Which endpoints this node delivers to: it claims those that no node has, and gives each a loop of its own.
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
    private let loops = Loops()

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
        metrics.setLags { [loops] in loops.lags() }
    }

    /// Runs until cancelled. Requests under way then have two seconds to end.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            let worker = Worker("looking after webhooks", failures: metrics.failures, logger: logger)
            while true {
                if loops.isTendDue(), let started = try await worker.attempt({ try await tend() }) {
                    for loop in started {
                        group.addTask {
                            await loop.run()
                            loops.remove(loop.id)
                        }
                    }
                }
                loops.wake()
                try await Ticker.sleep()
            }
        }
    }

    /// Renews, claims and stops. Returns the new loops.
    private func tend() async throws -> [WebhookLoop] {
        let began = ContinuousClock.now
        let held = try await store.tendWebhooks(
            node: node, held: loops.ids, limit: WebhookLeases.claimMax, leaseSeconds: WebhookLeases.leaseSeconds)
        let (unserved, leaseEnd) = loops.update(held, began: began)
        return unserved.compactMap { webhook in
            do {
                let loop = try loop(of: webhook, leaseEnd: leaseEnd)
                loops.add(loop)
                return loop
            } catch {
                metrics.failures.add()
                loops.remove(webhook.id)
                logger.warning(
                    "delivering to a webhook cannot begin; retrying in 1 s",
                    metadata: ["webhook": "\(webhook.id)", "reason": "\(error)"])
                return nil
            }
        }
    }

    private func loop(of webhook: LeasedWebhook, leaseEnd: ContinuousClock.Instant) throws -> WebhookLoop {
        WebhookLoop(
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

/// The loops of a node by their endpoints. `WebhookLeases` decides which there are. From any thread.
private final class Loops: Sendable {
    private struct State {
        var leases = WebhookLeases()
        var loops: [WebhookID: WebhookLoop] = [:]
    }

    private let state = Mutex(State())

    var ids: [WebhookID] { state.withLock { $0.leases.ids } }

    func isTendDue() -> Bool { state.withLock { $0.leases.isTendDue(now: .now) } }

    func add(_ loop: WebhookLoop) {
        state.withLock { $0.loops[loop.id] = loop }
        loop.wake()
    }

    func remove(_ id: WebhookID) {
        state.withLock { state in
            state.loops[id] = nil
            state.leases.ended(id)
        }
    }

    func wake() {
        for loop in state.withLock({ Array($0.loops.values) }) { loop.wake() }
    }

    /// Renews the loops of `held`, and stops the others. Returns the endpoints without a loop.
    func update(
        _ held: [LeasedWebhook], began: ContinuousClock.Instant
    ) -> (unserved: [LeasedWebhook], leaseEnd: ContinuousClock.Instant) {
        let (changes, loops) = state.withLock { ($0.leases.tended(held.map(\.id), began: began), $0.loops) }
        for id in changes.stopped { loops[id]?.stop() }
        let started = Set(changes.started)
        for webhook in held where !started.contains(webhook.id) {
            loops[webhook.id]?.renew(webhook, leaseEnd: changes.leaseEnd)
        }
        return (held.filter { started.contains($0.id) }, changes.leaseEnd)
    }

    func lags() -> [WebhookMetrics.Lag] {
        let nowMs = WallClock.ms
        return state.withLock { Array($0.loops.values) }.sorted { $0.id < $1.id }.map { loop in
            let lag = loop.lag(nowMs: nowMs)
            return .init(webhook: loop.id.description, eventCount: lag.eventCount, seconds: lag.seconds)
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
