// Sending events to an endpoint, and reporting its answers.
import Basics
import Domain
import Outbound
import Store
import Webhooks
import Workers

extension WebhookLoop {
    /// Sends events. From any thread.
    func send(_ sends: [WebhookSchedule.Sending]) {
        guard !sends.isEmpty else { return }
        let target = webhook.withLock { $0.target }
        let secrets = target.secrets.map(WebhookSecret.init)
        outbound.begin(
            sends.map { send in
                let transfer = send.message.transfer(to: target.url, secrets: secrets, now: WallClock.seconds)
                return Outbound.Job(transfer) { [self] result in
                    conclude(send.position, WebhookVerdict(result, now: WallClock.seconds))
                }
            })
    }

    private func conclude(_ position: Position, _ verdict: WebhookVerdict) {
        let now = DeliveryClock.system.now()
        let (outcome, sends, needsStep) = deliveries.update { schedule in
            (
                schedule.answered(position, verdict, random: .random(in: 0..<1), now: now), schedule.sends(now: now),
                schedule.needsStep
            )
        }
        report(outcome)
        send(sends)
        if needsStep { deliveries.stepSoon() }
    }

    private func report(_ outcome: WebhookSchedule.Outcome) {
        switch outcome {
        case .delivered(let ms):
            metrics.deliveries.add(.delivered)
            metrics.delays.record(.milliseconds(ms))
        case .gone:
            metrics.deliveries.add(.gone)
            log.warning("a webhook is disabled: the endpoint answered 410; enable it when it works again")
        case .retried(let reason):
            metrics.deliveries.add(.retried)
            log.warning("delivering to a webhook failed; it is retried", reason: reason)
        case .parked(let reason):
            metrics.deliveries.add(.parked)
            log.warning("delivering to a webhook failed for the last time; the event is parked", reason: reason)
        case .unsent, .unknown: break
        }
    }
}
