// Sending events to an endpoint, and reporting its answers.
import Basics
import Domain
import Outbound
import Store
import Webhooks

extension WebhookLane {
    /// Sends as many events as may be under way. From any thread.
    func send() { send(state.withLock { $0.schedule.sends(now: .now) }) }

    func send(_ sends: [WebhookSchedule.Sending]) {
        guard !sends.isEmpty else { return }
        let target = state.withLock { $0.webhook.target }
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
        let (answer, ended) = state.withLock { state in
            let answer = state.schedule.answered(position, verdict, random: .random(in: 0..<1), now: .now)
            return (answer, state.takeEnded())
        }
        report(answer.outcome)
        send()
        if answer.needsStep { wake() }
        ended?.resume()
    }

    private func report(_ outcome: WebhookSchedule.Outcome) {
        switch outcome {
        case .delivered(let ms):
            metrics.delivered.add()
            metrics.delays.record(.milliseconds(ms))
        case .gone:
            metrics.gone.add()
            log.warning("a webhook is disabled: the endpoint answered 410; enable it when it works again")
        case .retried(let reason):
            metrics.retried.add()
            log.warning("delivering to a webhook failed; it is retried", reason: reason)
        case .parked(let reason):
            metrics.parked.add()
            log.warning("delivering to a webhook failed for the last time; the event is parked", reason: reason)
        case .unsent, .unknown: break
        }
    }
}

extension WebhookLane.State {
    fileprivate mutating func takeEnded() -> CheckedContinuation<Void, Never>? {
        guard schedule.isIdle else { return nil }
        defer { ended = nil }
        return ended
    }
}
