// The metrics of webhooks.
import Store
import Telemetry

final class WebhookMetrics: Metrics {
    enum Outcome: String, CaseIterable, Sendable { case delivered, retried, parked, gone }

    /// What an endpoint has not received.
    struct Lag: Sendable {
        var webhook: String
        var eventCount: Int
        var seconds: Double
    }

    let deliveries = LabelledCounters<Outcome>(
        "parley_webhook_deliveries_total",
        "Requests of this node to webhooks, by `outcome`: delivered, retried (failed, and sent again later), parked (failed "
            + "for the last time), gone (410, which disables the webhook).",
        by: "outcome")
    let lost = Counter(
        "parley_webhook_lost_events_total",
        "Events that the log dropped before a webhook had received them. With a filter of types some may not have "
            + "matched.")
    private let lagEvents = LabelledGauge(
        "parley_webhook_lag_events",
        "Events that a webhook of this node has not received, by `webhook` (its id, at most 100): unread ones of the log, "
            + "and those that failed or wait.",
        by: "webhook")
    private let lagSeconds = LabelledGauge(
        "parley_webhook_lag_seconds",
        "Age of the oldest event that a webhook of this node has not received, by `webhook`, as far as the log was read.",
        by: "webhook")
    let delays = Histogram("parley_webhook_delay_seconds", "Time from an event until the webhook has accepted it.")
    let failures = Counter()

    /// - Parameter lags: returns the lag of each endpoint that this node delivers to.
    func setLags(_ lags: @escaping @Sendable () -> [Lag]) {
        lagEvents.show { lags().map { ($0.webhook, Double($0.eventCount)) } }
        lagSeconds.show { lags().map { ($0.webhook, $0.seconds) } }
    }
}
