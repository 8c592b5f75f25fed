// Sending events to an endpoint, and what its answers mean for them.
import Domain
import Outbound
import Store
import Webhooks

extension WebhookLane {
    /// An event that could not be sent for a reason of this node is tried again after this time.
    private static let unsentWaitMs: Int64 = 1_000

    /// Sends as many events as may be under way. From any thread.
    func pump() {
        let nowMs = UnixTime.nowMs
        let positions = state.withLock { state -> [Position] in
            guard state.isRunning, ContinuousClock.now < state.leaseEnd else { return [] }
            var room = state.pace.room(inFlightCount: state.queue.inFlightCount, now: .now)
            var positions: [Position] = []
            while room > 0, let position = state.queue.next(nowMs: nowMs) {
                room -= 1
                if state.items[position]?.message != nil {
                    positions.append(position)
                } else {
                    state.missing.append(position)
                }
            }
            return positions
        }
        send(positions)
    }

    func send(_ position: Position) { send([position]) }

    private func send(_ positions: [Position]) {
        guard !positions.isEmpty else { return }
        let (target, messages) = state.withLock { state in
            (state.webhook.target, positions.map { ($0, state.items[$0]?.message) })
        }
        let secrets = target.secrets.map(WebhookSecret.init)
        let jobs = messages.compactMap { position, message in
            message.map { message in
                let transfer = message.transfer(to: target.url, secrets: secrets, now: UnixTime.now)
                return Outbound.Job(transfer) { [self] result in
                    conclude(position, WebhookVerdict(result, now: UnixTime.now))
                }
            }
        }
        outbound.begin(jobs)
    }

    private func conclude(_ position: Position, _ verdict: WebhookVerdict) {
        let nowMs = UnixTime.nowMs
        let isToWake = state.withLock { state in
            guard var item = state.items[position] else { return true }
            let tryCount = state.queue.tryCount(of: position) + 1
            if case .unsent = verdict {} else { state.drop(position) }
            item.message = nil
            var delivery = OpenDelivery(
                position: position, event: item.event, thread: item.thread, atMs: item.atMs, tryCount: tryCount)
            switch verdict {
            case .delivered(let status):
                state.pace.accepted(now: .now)
                state.finish(position)
                state.outcomes.deliver(delivery, status: status)
                metrics.delivered.add()
                metrics.delays.record(.milliseconds(nowMs - item.atMs))
            case .gone:
                state.phase = .stopping
                state.outcomes.isGone = true
                state.queue.unsent(position, retryAtMs: nowMs)
                metrics.gone.add()
                log.warning("a webhook is disabled: the endpoint answered 410; enable it when it works again")
            case .failed(let status, let reason, let slows, let asked):
                if slows { state.pace.slow(asked: asked, now: .now) }
                let wait = retries.wait(afterTry: tryCount, asked: asked, random: .random(in: 0..<1))
                if let wait {
                    delivery.nextMs = nowMs + Int64(wait / .milliseconds(1))
                    state.queue.failed(position, retryAtMs: delivery.nextMs ?? nowMs)
                    state.outcomes.keep(.init(delivery, .failed, status: status, reason: reason.rawValue))
                    metrics.retried.add()
                } else {
                    state.finish(position)
                    state.outcomes.keep(.init(delivery, .parked, status: status, reason: reason.rawValue))
                    metrics.parked.add()
                }
                log.warning(
                    wait == nil
                        ? "delivering to a webhook failed for the last time; the event is parked"
                        : "delivering to a webhook failed; it is retried",
                    reason: status.map { "status \($0)" } ?? reason.rawValue)
            case .unsent:
                state.queue.unsent(position, retryAtMs: nowMs + Self.unsentWaitMs)
            }
            return state.queue.inFlightCount == 0 || state.outcomes.count >= limits.settleCountMin
                || state.hasMore && state.queue.count - state.queue.storedCount < limits.aheadCountMax / 2
        }
        pump()
        if isToWake { wake() }
    }
}

extension WebhookLane.State {
    /// Forgets an event's content.
    mutating func drop(_ position: Position) {
        byteCount -= items[position]?.message?.body.count ?? 0
        items[position]?.message = nil
    }

    fileprivate mutating func finish(_ position: Position) {
        items[position] = nil
        queue.done(position)
    }
}
