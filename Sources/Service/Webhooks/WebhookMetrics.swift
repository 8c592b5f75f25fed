// The metrics of webhooks.
import Store
import Synchronization
import Telemetry

final class WebhookMetrics: Sendable {
    /// What an endpoint has not received.
    struct Lag: Sendable {
        var webhook: String
        var eventCount: Int
        var seconds: Double

        fileprivate var labels: MetricsText.Labels { [("webhook", webhook)] }
    }

    let delivered = Counter()
    let retried = Counter()
    let parked = Counter()
    let gone = Counter()
    let lost = Counter()
    let failures = Counter()
    let delays = Histogram(.seconds)
    private let readLags = Mutex<@Sendable () -> [Lag]>({ [] })

    /// - Parameter lags: returns the lag of each endpoint that this node delivers to.
    func setLags(_ lags: @escaping @Sendable () -> [Lag]) { readLags.withLock { $0 = lags } }

    func write(to text: inout MetricsText) {
        text.counter(
            "parley_webhook_deliveries_total",
            "Requests of this node to webhooks, by outcome. `retried`: failed, and sent again later. `parked`: failed for the "
                + "last time. `gone`: 410, which disables the webhook.",
            [
                ([("outcome", "delivered")], delivered.value), ([("outcome", "retried")], retried.value),
                ([("outcome", "parked")], parked.value), ([("outcome", "gone")], gone.value),
            ])
        text.counter(
            "parley_webhook_lost_events_total",
            "Events that the log dropped before a webhook had received them. With a filter of types some may not have matched.",
            lost.value)
        let lags = readLags.withLock { $0 }()
        text.gauge(
            "parley_webhook_lag_events",
            "Events that a webhook of this node has not received: unread ones of the log, and those that failed or wait.",
            lags.map { (labels: $0.labels, value: Double($0.eventCount)) })
        text.gauge(
            "parley_webhook_lag_seconds",
            "Age of the oldest event that a webhook of this node has not received, as far as it was read.",
            lags.map { (labels: $0.labels, value: $0.seconds) })
        text.histogram(
            "parley_webhook_delay_seconds", "Time from an event to the webhook's accepting it.", delays.values)
    }
}
