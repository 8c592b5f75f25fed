// One endpoint's deliveries by this node. `WebhookSchedule` decides; the loop performs: WebhookLoop+sending.swift sends,
// WebhookLoop+steps.swift reads the log and records.
import Basics
import Domain
import Log
import Logging
import Outbound
import Store
import Synchronization
import Telemetry
import Webhooks
import Workers

/// Delivers the events of the log to one endpoint, for one claim and one revision of its settings. It has an
/// HTTP client of its own, so a slow endpoint delays no other one.
final class WebhookLoop: Sendable {
    /// How long requests under way may continue while the loop ends.
    private static let closeMax = Duration.seconds(2)

    let id: WebhookID
    let claim: Int64
    let revision: Int
    let store: Store
    let outbound: Outbound
    let metrics: WebhookMetrics
    /// Returns the log's head, as this node knows it.
    let head: @Sendable () -> Position
    let log: RateLimitedLog
    let deliveries: DeliveryLoop<WebhookSchedule>
    /// The endpoint as the last renewal of the lease had it.
    let webhook: Mutex<LeasedWebhook>

    init(
        _ webhook: LeasedWebhook, leaseEnd: ContinuousClock.Instant, retries: Retries, store: Store,
        outbound: Outbound, metrics: WebhookMetrics, head: @escaping @Sendable () -> Position, logger: Logger
    ) {
        id = webhook.id
        claim = webhook.claim
        revision = webhook.revision
        self.store = store
        self.outbound = outbound
        self.metrics = metrics
        self.head = head
        var logger = logger
        logger[metadataKey: "webhook"] = "\(webhook.id)"
        log = RateLimitedLog(logger)
        let worker = Worker(
            "delivering to a webhook", retryAfter: .seconds(1), failures: metrics.failures, logger: logger)
        let schedule = WebhookSchedule(
            claim: webhook.claim, revision: webhook.revision, isOrdered: webhook.isOrdered, leaseEnd: leaseEnd,
            retries: retries, now: DeliveryClock.system.now())
        deliveries = DeliveryLoop(schedule, claiming: worker, recording: worker, clock: .system)
        self.webhook = Mutex(webhook)
    }

    /// Makes the loop look for work. From any thread.
    @Sendable func wake() { deliveries.wake() }

    /// Records that the lease was renewed, and the secrets that sign now. After a replay and with other settings the loop
    /// stops, and the next loop begins from the recorded place.
    func renew(_ webhook: LeasedWebhook, leaseEnd: ContinuousClock.Instant) {
        let isContinued = deliveries.update {
            $0.renewed(claim: webhook.claim, revision: webhook.revision, leaseEnd: leaseEnd)
        }
        if isContinued { self.webhook.withLock { $0 = webhook } }
        wake()
    }

    /// Sends nothing more, and ends when nothing is under way.
    func stop() {
        deliveries.update { $0.stop() }
        wake()
    }

    /// Runs until the loop is stopped or its task is cancelled. Requests under way then have two seconds to end, their
    /// outcomes are recorded, and the endpoint is released.
    func run() async {
        await deliveries.run(
            refresh: { [self] in
                let head = head()
                deliveries.update { $0.head = head }
            },
            send: .together { [self] in send($0) }, claim: { [self] in try await read($0) },
            settle: { [self] in try await settle($0) }, close: { [outbound] in outbound.close(within: Self.closeMax) })
        do {
            if let last = deliveries.update({ $0.lastSettlement() }) { try await settle(last) }
            if deliveries.update({ $0.isOurs }) { try await store.releaseWebhook(id, claim: claim) }
        } catch {
            metrics.failures.add()
            log.warning("recording the last deliveries to a webhook failed; they are sent again", reason: "\(error)")
        }
    }

    /// What the endpoint has not received: events of the log, and the age of the oldest one that is known.
    func lag(nowMs: Int64) -> (eventCount: Int, seconds: Double) {
        let head = head()
        return deliveries.update { schedule in
            schedule.head = head
            return schedule.lag(nowMs: nowMs)
        }
    }
}
