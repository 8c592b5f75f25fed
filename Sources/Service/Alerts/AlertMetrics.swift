// The metrics of the alerts that this node sends.
import Domain
import Store
import Synchronization
import Telemetry

final class AlertMetrics: Sendable {
    final class Loop: Sendable {
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

    let apns = Loop()
    let fcm = Loop()
    let webPush = Loop()

    subscript(platform: PushPlatform) -> Loop {
        switch platform {
        case .apns: apns
        case .fcm: fcm
        case .webpush: webPush
        }
    }

    func write(to text: inout MetricsText) {
        func each<Value>(
            _ more: MetricsText.Labels = [], _ value: (Loop) -> Value
        ) -> [(labels: MetricsText.Labels, value: Value)] {
            PushPlatform.allCases.map { platform in
                let labels: MetricsText.Labels = [("platform", platform.rawValue)]
                return (labels: labels + more, value: value(self[platform]))
            }
        }
        text.counter(
            "parley_push_alerts_total",
            "Alerts handled by this node, by `platform` and `outcome`: sent, retried (failed, and sent again later), dropped "
                + "(the push service refused this alert).",
            each([("outcome", "sent")], \.sent.value) + each([("outcome", "retried")], \.retried.value)
                + each([("outcome", "dropped")], \.dropped.value))
        text.counter(
            "parley_push_suppressed_total",
            "Alerts suppressed before sending, by `platform` and `reason` (docs/push.md).",
            PushSuppression.allCases.flatMap { reason in
                each([("reason", reason.rawValue)]) { $0.suppressedCount(reason) }
            })
        text.counter(
            "parley_push_tokens_forgotten_total",
            "Device tokens deleted because the push service no longer accepts them, by `platform`.",
            each([], \.forgotten.value))
        text.gauge(
            "parley_push_halted",
            "1 while no alerts are sent because the push service refuses the keys or settings, by `platform`. Correct them.",
            each { $0.isHalted.load(ordering: .relaxed) ? 1 : 0 })
        text.gauge(
            "parley_push_queue_seconds", "How long the oldest due alert has waited, on any node, by `platform`.",
            each { Double($0.queueMs.load(ordering: .relaxed)) / 1_000 })
        text.histogram(
            "parley_push_delay_seconds",
            "Time from a message's commit until the push service has accepted the alert, by `platform`.",
            each([], \.delays.values).map { (labels: $0.labels, values: $0.value) })
    }
}
