// Alerts, by this node.
import Domain
import Store
import Synchronization
import Telemetry

final class AlertMetrics: Sendable {
    final class Lane: Sendable {
        let sent = Counter()
        let retried = Counter()
        let dropped = Counter()
        let forgotten = Counter()
        let failures = Counter()
        let delays = Histogram(.seconds)
        let isHalted = Atomic(false)
        let queueMs = Atomic(0)
        private let suppressed = PushSuppression.allCases.map { _ in Counter() }

        func suppress(_ reason: PushSuppression, _ count: Int) {
            guard let index = PushSuppression.allCases.firstIndex(of: reason) else { return }
            suppressed[index].add(count)
        }

        fileprivate func suppressedCount(_ reason: PushSuppression) -> Int {
            PushSuppression.allCases.firstIndex(of: reason).map { suppressed[$0].value } ?? 0
        }
    }

    let apns = Lane()
    let fcm = Lane()
    let webPush = Lane()

    subscript(platform: PushPlatform) -> Lane {
        switch platform {
        case .apns: apns
        case .fcm: fcm
        case .webpush: webPush
        }
    }

    func write(to text: inout MetricsText) {
        func each<Value>(
            _ more: MetricsText.Labels = [], _ value: (Lane) -> Value
        ) -> [(labels: MetricsText.Labels, value: Value)] {
            PushPlatform.allCases.map { platform in
                let labels: MetricsText.Labels = [("platform", platform.rawValue)]
                return (labels: labels + more, value: value(self[platform]))
            }
        }
        text.counter(
            "parley_push_alerts_total",
            "Alerts that this node had in hand, by what became of them; `retried`: put back to be sent again.",
            each([("outcome", "sent")], \.sent.value) + each([("outcome", "retried")], \.retried.value)
                + each([("outcome", "dropped")], \.dropped.value))
        text.counter(
            "parley_push_suppressed_total", "Alerts that weren't sent after all, by why not.",
            PushSuppression.allCases.flatMap { reason in
                each([("reason", reason.rawValue)]) { $0.suppressedCount(reason) }
            })
        text.counter(
            "parley_push_tokens_forgotten_total", "Devices' tokens that a service said are no good any more.",
            each([], \.forgotten.value))
        text.counter(
            "parley_push_failures_total", "Calls of the database for alerts that failed.", each([], \.failures.value))
        text.gauge(
            "parley_push_halted",
            "1 while nothing is sent because the service refuses us: keys or settings have to be put right.",
            each { $0.isHalted.load(ordering: .relaxed) ? 1 : 0 })
        text.gauge(
            "parley_push_queue_seconds", "How long the first alert that is due has been so, on whatever node.",
            each { Double($0.queueMs.load(ordering: .relaxed)) / 1_000 })
        text.histogram(
            "parley_push_delay_seconds", "From a message's commit to the service's having the alert.",
            each([], \.delays.values).map { (labels: $0.labels, values: $0.value) })
    }
}
