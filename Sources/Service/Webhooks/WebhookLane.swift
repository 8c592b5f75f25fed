// One endpoint's deliveries by this node. `WebhookSchedule` decides; the lane performs: WebhookLane+sending.swift sends,
// WebhookLane+steps.swift reads the log and records.
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
final class WebhookLane: Sendable {
    /// How long requests under way may continue while the lane ends.
    private static let closeMax = Duration.seconds(2)

    /// The state that the task and the callbacks share. Decisions are made under the lock; their effects follow after
    /// it.
    struct State {
        var schedule: WebhookSchedule
        var webhook: LeasedWebhook
        /// Resumed when nothing is under way.
        var ended: CheckedContinuation<Void, Never>?
    }

    let id: WebhookID
    let claim: Int64
    let revision: Int
    let store: Store
    let outbound: Outbound
    let metrics: WebhookMetrics
    /// Returns the log's head, as this node knows it.
    let head: @Sendable () -> Position
    let log: RateLimitedLog
    let state: Mutex<State>
    private let worker: Worker
    private let wakeUps = WakeUps()

    init(
        _ webhook: LeasedWebhook, leaseEnd: ContinuousClock.Instant, retries: WebhookRetries, store: Store,
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
        worker = Worker(
            "delivering to a webhook", retryAfter: .seconds(1), failures: metrics.failures, logger: logger)
        let schedule = WebhookSchedule(
            claim: webhook.claim, revision: webhook.revision, isOrdered: webhook.isOrdered, leaseEnd: leaseEnd,
            retries: retries, now: .now)
        state = Mutex(State(schedule: schedule, webhook: webhook))
    }

    /// Makes the lane look for work. From any thread.
    @Sendable func wake() { wakeUps.wake() }

    /// Records that the lease was renewed, and the secrets that sign now. After a replay and with other settings the lane
    /// stops, and the next lane begins from the recorded place.
    func renew(_ webhook: LeasedWebhook, leaseEnd: ContinuousClock.Instant) {
        state.withLock { state in
            if state.schedule.renewed(claim: webhook.claim, revision: webhook.revision, leaseEnd: leaseEnd) {
                state.webhook = webhook
            }
        }
        wake()
    }

    /// Sends nothing more, and ends when nothing is under way.
    func stop() {
        state.withLock { $0.schedule.stop() }
        wake()
    }

    /// Runs until the lane is stopped or its task is cancelled. Requests under way then have two seconds to end.
    func run() async {
        do {
            for await _ in wakeUps {
                guard let isDone = try await worker.attempt({ try await work() }) else {
                    try await Task.sleep(for: .seconds(1))
                    wake()
                    continue
                }
                if isDone { break }
            }
        } catch {
            // Cancelled.
        }
        await close()
    }

    /// Sends, and performs one step after the other until there is nothing to do now. Returns whether the lane is done.
    private func work() async throws -> Bool {
        while true {
            send()
            let head = head()
            switch state.withLock({ $0.schedule.step(head: head, now: .now) }) {
            case .open: try await open()
            case .read(let cursor): try await read(after: cursor)
            case .load(let position, let cursor): try await load(position, after: cursor)
            case .settle(let settlement): try await settle(settlement)
            case .wait: return false
            case .end: return true
            }
        }
    }

    /// Waits for what is under way, records it, and releases the endpoint. Runs to its end although the task is
    /// cancelled.
    private func close() async {
        stop()
        // Calls back for every request within this time.
        outbound.close(within: Self.closeMax)
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if !state.schedule.isIdle { state.ended = continuation }
                return state.schedule.isIdle
            }
            if isIdle { continuation.resume() }
        }
        do {
            if let last = state.withLock({ $0.schedule.lastSettlement() }) { try await settle(last) }
            if state.withLock({ $0.schedule.isOurs }) { try await store.releaseWebhook(id, claim: claim) }
        } catch {
            metrics.failures.add()
            log.warning("recording the last deliveries to a webhook failed; they are sent again", reason: "\(error)")
        }
    }

    /// What the endpoint has not received: events of the log, and the age of the oldest one that is known.
    func lag(nowMs: Int64) -> (eventCount: Int, seconds: Double) {
        let head = head()
        return state.withLock { $0.schedule.lag(head: head, nowMs: nowMs) }
    }
}

extension WebhookSchedule.Now {
    static var now: Self { Self(instant: .now, ms: WallClock.ms) }
}
