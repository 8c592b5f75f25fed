// One platform's alerts, sent by this node: claiming them and recording the outcomes. AlertLoop+sending.swift has the
// requests and what their answers mean.
import Basics
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
final class AlertLoop: Sendable {
    struct Limits: Sendable {
        /// Alerts under way at once: nearly what four connections with a hundred streams each carry.
        var inFlightMax = 256
        /// The most alerts of one claim. A claim costs the same for few alerts as for many, so the loop waits until it
        /// has room for half of this.
        var claimMax = 128
        /// Outcomes of one call, so that it is short.
        var settleMax = 256
        /// The length of a claim: what a transfer and writing its outcome may take, with a margin for a busy machine.
        var leaseSeconds = 60
        /// Alerts that wait longer are dropped.
        var lifeSeconds: Int
    }

    /// What the callbacks report to the loop's task, and the pace of each service.
    struct State {
        var pace: PushPace
        var refusedToken: ProviderToken?
        var hasAccepted = false
    }

    /// Between two passes while alerts are under way, so that few calls record many outcomes.
    private static let pause = Duration.milliseconds(25)

    let platform: PushPlatform
    let sender: AlertSender
    let store: Store
    let outbound: Outbound
    let limits: Limits
    let metrics: AlertMetrics.Loop
    let log: RateLimitedLog
    let state: Mutex<State>
    let deliveries: DeliveryLoop<DeliveryQueue<AlertDelivery>>
    let tokens: ProviderTokens

    init(
        _ platform: PushPlatform, _ sender: AlertSender, store: Store, outbound: Outbound, limits: Limits,
        metrics: AlertMetrics.Loop, logger: Logger
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
        tokens = ProviderTokens(sender, store: store, outbound: outbound)
        state = Mutex(State(pace: PushPace(originInFlightMax: min(sender.originInFlightMax, limits.inFlightMax))))
        let queue = DeliveryQueue<AlertDelivery>(
            limits: limits.ofQueue, pace: Pace(.alerts(inFlightMax: limits.inFlightMax)), now: .now)
        let interval = AlertDispatcher.interval
        deliveries = DeliveryLoop(
            queue,
            claiming: Worker("sending alerts", retryAfter: interval, failures: metrics.failures, logger: logger),
            recording: Worker(
                "recording the outcomes of alerts", retryAfter: interval, failures: metrics.failures, logger: logger),
            every: interval, pause: Self.pause, clock: .system)
    }

    /// Makes the loop look for due alerts. From any thread.
    @Sendable func wake() { deliveries.wake() }

    /// Runs until cancelled. Alerts under way then have `closeMax` to arrive, and their outcomes are recorded.
    func run(closeMax: Duration) async {
        await deliveries.run(
            send: .together { [self] alerts in outbound.begin(alerts.map(job)) },
            claim: { [self] limit in try await claim(limit) },
            settle: { [self] settlement in
                metrics.forgotten.add(try await store.settleAlerts(Array(settlement.outcomes.values)))
                deliveries.update { $0.settled(settlement, now: .now) }
            },
            close: { [outbound] in outbound.close(within: closeMax) })
    }

    /// Claims alerts, and prepares those that may be sent now.
    private func claim(_ limit: Int) async throws {
        try await handleTokenAnswers()
        let claim = try await store.claimAlerts(
            platform, limit: limit, leaseSeconds: limits.leaseSeconds, lifeSeconds: limits.lifeSeconds)
        for (reason, count) in claim.suppressed { metrics.suppress(reason, count) }
        let prepared = claim.alerts.isEmpty ? Prepared() : await prepare(claim.alerts)
        // If none of them may be sent now, the next ones would be deferred, too. The next tick is soon enough.
        let hasMore =
            claim.alerts.count + claim.suppressed.count == limit
            && (prepared.deferredCount < claim.alerts.count || claim.alerts.isEmpty)
        deliveries.update { queue in
            for alert in prepared.alerts { queue.add(alert) }
            for settlement in prepared.settlements { queue.keep(AlertDelivery.Key(settlement.claimed), settlement) }
            if hasMore || !claim.suppressed.isEmpty { queue.wake() }
        }
    }

    /// Handles what the service answered to the node's provider token.
    private func handleTokenAnswers() async throws {
        let (refused, hasAccepted) = state.withLock { state in
            defer { (state.refusedToken, state.hasAccepted) = (nil, false) }
            return (state.refusedToken, state.hasAccepted)
        }
        if hasAccepted { await tokens.accepted() }
        if let refused, try await tokens.refuse(refused) { halt("token_refused") }
    }

    /// Sends nothing more until an operator has corrected something. One alert a minute checks whether that has
    /// happened.
    func halt(_ reason: String) {
        deliveries.update { $0.pace.failed(now: .now) }
        metrics.isHalted.store(true, ordering: .relaxed)
        log.error("no alerts are sent until the settings are corrected", reason: reason)
    }

    /// Ends a halt, if there is one: the service has accepted an alert.
    func resume() {
        let wasHalted = deliveries.update { queue in
            defer { queue.pace.accepted(now: .now) }
            return queue.pace.isSlowed
        }
        guard wasHalted else { return }
        metrics.isHalted.store(false, ordering: .relaxed)
        log.info("alerts are sent again")
    }
}

extension AlertLoop.Limits {
    fileprivate var ofQueue: DeliveryQueue<AlertDelivery>.Limits {
        var limits = DeliveryQueue<AlertDelivery>.Limits()
        limits.claimCountMin = claimMax / 2
        limits.claimCountMax = claimMax
        limits.settleCountMax = settleMax
        return limits
    }
}
