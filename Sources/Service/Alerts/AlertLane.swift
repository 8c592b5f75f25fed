// One platform's alerts, sent by this node: claiming them, and the end of the lane. AlertLane+sending.swift sends what
// was claimed, AlertLane+settling.swift records the outcomes.
import Domain
import Log
import Logging
import Outbound
import Push
import Store
import Synchronization
import Telemetry
import Workers

/// Claims due alerts, sends them, and records each outcome. Runs on every node. A claim is a lease: when it expires
/// without an outcome, another node sends the alert under the same id.
final class AlertLane: Sendable {
    struct Limits: Sendable {
        /// Alerts under way at once: nearly what four connections with a hundred streams each carry.
        var inFlightMax = 256
        /// The most alerts of one claim. A claim costs the same for few alerts as for many, so the lane waits until it
        /// has room for half of this.
        var claimMax = 128
        /// Outcomes that are written without waiting for more.
        var settleMin = 64
        /// The length of a claim: what a transfer and writing its outcome may take, with a margin for a busy machine.
        var leaseSeconds = 60
        /// Alerts that wait longer are dropped.
        var lifeSeconds: Int
    }

    /// The state that the task and the callbacks share. Decisions are made under the lock; their effects follow after
    /// it.
    struct State {
        var pace: PushPace
        /// Outcomes to write.
        var settlements: [PushSettlement] = []
        var isSettling = false
        /// Whether the last write of outcomes failed. The next tick retries it.
        var isStuck = false
        /// Whether alerts may be due.
        var isDue = false
        var refusedToken: ProviderToken?
        var hasAccepted = false
        var isClosing = false
        /// Ended passes over what is due and what is to be recorded. Tests wait for passes.
        var passCount = 0
        var ended: CheckedContinuation<Void, Never>?
    }

    /// Between two passes while there is little to claim or to record.
    private static let pause = Duration.milliseconds(25)

    let platform: PushPlatform
    let sender: AlertSender
    let store: Store
    let outbound: Outbound
    let limits: Limits
    let metrics: AlertMetrics.Lane
    let log: RateLimitedLog
    let state: Mutex<State>
    private let worker: Worker
    private let wakeUps = WakeUps()

    init(
        _ platform: PushPlatform, _ sender: AlertSender, store: Store, outbound: Outbound, limits: Limits,
        metrics: AlertMetrics.Lane, logger: Logger
    ) {
        self.platform = platform
        self.sender = sender
        self.store = store
        self.outbound = outbound
        self.limits = limits
        self.metrics = metrics
        var logger = logger
        logger[metadataKey: "platform"] = "\(platform.rawValue)"
        log = RateLimitedLog(logger)
        worker = Worker(
            "sending alerts", retryAfter: AlertDispatcher.interval, failures: metrics.failures, logger: logger)
        state = Mutex(
            State(
                pace: PushPace(
                    inFlightMax: limits.inFlightMax,
                    originInFlightMax: min(sender.originInFlightMax, limits.inFlightMax))))
    }

    var passCount: Int { state.withLock { $0.passCount } }

    /// Makes the lane look for due alerts. From any thread.
    @Sendable func wake() {
        state.withLock { state in
            state.isDue = true
            // A tick has passed since the write failed.
            state.isStuck = false
        }
        wakeUps.wake()
    }

    /// Runs until cancelled. Alerts under way then have `closeMax` to arrive, and their outcomes are recorded.
    func run(closeMax: Duration) async {
        var tokens = ProviderTokens(sender, store: store, outbound: outbound)
        for await _ in wakeUps {
            do {
                _ = try await worker.attempt { try await work(&tokens) }
            } catch {
                break
            }
            state.withLock { $0.passCount += 1 }
        }
        outbound.close(within: closeMax)
        state.withLock { $0.isClosing = true }
        settleNext()
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if !state.isIdle { state.ended = continuation }
                return state.isIdle
            }
            if isDone { continuation.resume() }
        }
    }

    /// Claims and sends until nothing is under way or left to record, and nothing is due or may be sent.
    private func work(_ tokens: inout ProviderTokens) async throws {
        while true {
            try await handleTokenAnswers(&tokens)
            settleNext()
            if try await claim(&tokens) { continue }
            if state.withLock({ $0.isIdle && (!$0.isDue || $0.pace.room(now: .now) <= 0) }) { return }
            try await Task.sleep(for: Self.pause)
        }
    }

    /// Claims alerts and sends them. Returns whether more may be due at once.
    private func claim(_ tokens: inout ProviderTokens) async throws -> Bool {
        let limit = state.withLock { state in
            let room = min(state.pace.room(now: .now), limits.claimMax)
            guard state.isDue, room >= limits.claimMax / 2 || state.pace.isHalted else { return 0 }
            if room > 0 { state.isDue = false }
            return room
        }
        guard limit > 0 else { return false }
        let claim = try await store.claimAlerts(
            platform, limit: limit, leaseSeconds: limits.leaseSeconds, lifeSeconds: limits.lifeSeconds)
        for (reason, count) in claim.suppressed { metrics.suppress(reason, count) }
        let sentCount = claim.alerts.isEmpty ? 0 : try await send(claim.alerts, &tokens)
        // If none of them may be sent now, the next ones would be deferred, too. The next tick is soon enough.
        let hasMore = claim.alerts.count + claim.suppressed.count == limit && (sentCount > 0 || claim.alerts.isEmpty)
        if hasMore || !claim.suppressed.isEmpty { state.withLock { $0.isDue = true } }
        return hasMore
    }

    /// Handles what the service answered to the node's provider token.
    private func handleTokenAnswers(_ tokens: inout ProviderTokens) async throws {
        let (refused, hasAccepted) = state.withLock { state in
            defer { (state.refusedToken, state.hasAccepted) = (nil, false) }
            return (state.refusedToken, state.hasAccepted)
        }
        if hasAccepted { tokens.accepted() }
        if let refused, try await tokens.refuse(refused) { halt("token_refused") }
    }

    /// Sends nothing more until an operator has corrected something. One alert a minute checks whether that has
    /// happened.
    func halt(_ reason: String) {
        state.withLock { $0.pace.halt(now: .now) }
        metrics.isHalted.store(true, ordering: .relaxed)
        log.error("no alerts are sent until the settings are corrected", reason: reason)
    }

    /// Ends a halt, if there is one: the service has accepted an alert.
    func resume() {
        guard
            state.withLock({ state in
                defer { state.pace.resume() }
                return state.pace.isHalted
            })
        else { return }
        metrics.isHalted.store(false, ordering: .relaxed)
        log.info("alerts are sent again")
    }
}
