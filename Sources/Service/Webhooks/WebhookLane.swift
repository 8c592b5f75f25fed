// One endpoint's deliveries by this node: what it knows, and its loop. WebhookLane+reading.swift reads the log,
// WebhookLane+sending.swift sends, WebhookLane+settling.swift records.
import Domain
import Log
import Logging
import Outbound
import Store
import Synchronization
import Telemetry
import Webhooks
import Workers

/// Delivers the events of the log to one endpoint, for one turn of its lease. It has an HTTP client of its own, so a
/// slow endpoint delays no other one.
final class WebhookLane: Sendable {
    struct Limits: Sendable {
        /// Events that were read and are not yet delivered, without those that have rows. When this node is killed, at
        /// most this many are sent again.
        var aheadCountMax = 512
        /// Their bodies.
        var aheadByteCountMax = 4 << 20
        /// Events of one read.
        var readCountMax = 256
        /// Events that failed or wait behind one. With more, the endpoint gets nothing new.
        var openCountMax = 10_000
        /// Outcomes that are recorded without waiting for more.
        var settleCountMin = 256
        /// The longest time until an outcome is recorded.
        var settleWaitMax = Duration.milliseconds(250)
        /// The longest time until the cursor is recorded while the log has nothing for the endpoint.
        var cursorWaitMax = Duration.seconds(5)
        /// How long requests under way may continue while the node stops.
        var closeMax = Duration.seconds(2)
    }

    /// What is known of an event that is neither delivered nor parked.
    struct Item {
        var event: String
        var thread: ThreadID?
        var atMs: Int64
        /// Nil for an event with a row: it is read from the log again when its time comes.
        var message: WebhookMessage?
    }

    enum Phase {
        case running
        /// Nothing more is sent. The lane ends when nothing is under way.
        case stopping
        /// Another turn has the endpoint: nothing can be recorded any more.
        case over
    }

    struct State {
        var webhook: LeasedWebhook
        var queue: WebhookQueue
        var pace: WebhookPace
        var items: [Position: Item] = [:]
        /// Bodies in memory.
        var byteCount = 0
        /// Nil until the place was read from the database.
        var readTo: Cursor?
        /// The log's end, when it was last read.
        var head = Position.start
        var hasMore = true
        /// Events under way whose content is to be read first.
        var missing: [Position] = []
        var outcomes = OutcomeBatch()
        var settledCursor: Cursor?
        var settledAt = ContinuousClock.now
        var leaseEnd: ContinuousClock.Instant
        var phase = Phase.running
    }

    let id: WebhookID
    let turn: Int64
    let retries: WebhookRetries
    let limits: Limits
    let store: Store
    let outbound: Outbound
    let metrics: WebhookMetrics
    /// Returns the log's head, as this node knows it.
    let head: @Sendable () -> Position
    let log: RateLimitedLog
    let state: Mutex<State>
    let wakeUps = WakeUps()
    private let worker: Worker

    init(
        _ webhook: LeasedWebhook, leaseEnd: ContinuousClock.Instant, retries: WebhookRetries, limits: Limits = Limits(),
        store: Store, outbound: Outbound, metrics: WebhookMetrics, head: @escaping @Sendable () -> Position,
        logger: Logger
    ) {
        id = webhook.id
        turn = webhook.turn
        self.retries = retries
        self.limits = limits
        self.store = store
        self.outbound = outbound
        self.metrics = metrics
        self.head = head
        var logger = logger
        logger[metadataKey: "webhook"] = "\(webhook.id)"
        log = RateLimitedLog(logger)
        worker = Worker(
            "delivering to a webhook", retryAfter: .seconds(1), failures: metrics.failures, logger: logger)
        state = Mutex(
            State(
                webhook: webhook, queue: WebhookQueue(isOrdered: webhook.isOrdered),
                pace: WebhookPace(longestWait: retries.longest), leaseEnd: leaseEnd))
    }

    /// Makes the lane look for work. From any thread.
    @Sendable func wake() { wakeUps.wake() }

    /// Records that the lease was renewed, and what changed of the endpoint. If the lane cannot go on with it, it stops,
    /// and the next lane begins from the recorded place.
    func renew(_ webhook: LeasedWebhook, leaseEnd: ContinuousClock.Instant) {
        state.withLock { state in
            if webhook.turn != turn {
                state.phase = .over
            } else if webhook.types != state.webhook.types {
                // What was read by the former filter is read again.
                state.phase = .stopping
            } else {
                state.webhook = webhook
                state.leaseEnd = leaseEnd
            }
        }
        wake()
    }

    /// Sends nothing more, and ends when nothing is under way.
    func stop() {
        state.withLock { state in
            if case .running = state.phase { state.phase = .stopping }
        }
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

    /// Reads, sends and records until there is nothing to do now. Returns whether the lane is done.
    private func work() async throws -> Bool {
        while true {
            if state.withLock({ $0.readTo == nil }), try await !open() { return true }
            pump()
            try await readMissing()
            let hasMore = try await read()
            pump()
            if state.withLock({ $0.isToSettle(limits) }) { try await settle() }
            let (isDone, isOver) = state.withLock { state in
                switch state.phase {
                case .running: (false, false)
                case .stopping: (state.queue.inFlightCount == 0 && state.outcomes.isEmpty, false)
                case .over: (true, true)
                }
            }
            if isDone || isOver { return true }
            if !hasMore, !state.withLock({ $0.isToSettle(limits) || !$0.missing.isEmpty }) { return false }
        }
    }

    /// Waits for what is under way, records it, and gives the endpoint back. Runs to its end although the task is
    /// cancelled.
    private func close() async {
        stop()
        outbound.close(within: limits.closeMax)
        let ending = Task {
            let end = ContinuousClock.now + limits.closeMax + .milliseconds(500)
            while state.withLock({ $0.queue.inFlightCount > $0.missing.count }), ContinuousClock.now < end {
                try? await Task.sleep(for: .milliseconds(10))
            }
            guard state.withLock({ if case .over = $0.phase { false } else { $0.readTo != nil } }) else { return }
            do {
                try await settle()
                try await store.releaseWebhook(id, turn: turn)
            } catch {
                metrics.failures.add()
                log.warning(
                    "recording the last deliveries to a webhook failed; they are sent again", reason: "\(error)")
            }
        }
        await ending.value
    }

    /// What the endpoint has not received: events of the log, and the age of the oldest one that is known.
    func lag(nowMs: Int64) -> (eventCount: Int, seconds: Double) {
        let head = head()
        return state.withLock { state in
            let unread = state.readTo.map { max(0, head.value - $0.position.value) } ?? 0
            let oldest = state.items.values.lazy.map(\.atMs).min()
            return (Int(unread) + state.queue.count, oldest.map { Double(max(0, nowMs - $0)) / 1_000 } ?? 0)
        }
    }
}

extension WebhookLane.State {
    var isRunning: Bool { if case .running = phase { true } else { false } }

    /// Whether outcomes are to be recorded now, or the cursor.
    func isToSettle(_ limits: WebhookLane.Limits) -> Bool {
        guard readTo != nil else { return false }
        if case .over = phase { return false }
        let wait = ContinuousClock.now - settledAt
        if !outcomes.isEmpty {
            return outcomes.count >= limits.settleCountMin || queue.inFlightCount == 0 || wait >= limits.settleWaitMax
        }
        return wait >= limits.cursorWaitMax && queue.inFlightCount == 0 && readTo != settledCursor
    }
}
