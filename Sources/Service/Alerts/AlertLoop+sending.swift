// Sending claimed alerts, and what each answer means for its alert.
import Basics
import Domain
import Outbound
import Push
import Store
import Synchronization
import Workers

/// An alert that is sent now.
struct AlertDelivery: Deliverable {
    typealias Outcome = PushSettlement

    struct Key: Hashable, Sendable {
        let session: SessionID
        let position: Position
        let attempt: Int

        init(_ claimed: ClaimedAlert) {
            (session, position, attempt) = (claimed.session, claimed.position, claimed.alert.attempt)
        }
    }

    let claimed: ClaimedAlert
    let request: HTTPExchange
    let token: ProviderToken

    var key: Key { Key(claimed) }
}

extension AlertLoop {
    /// For alerts that could not be sent for a reason that may be over soon.
    private static let deferMs = 1_000

    /// Claimed alerts, with what is known before they are sent.
    struct Prepared {
        /// The alerts to send. They count as under way to their services.
        var alerts: [AlertDelivery] = []
        /// The outcomes of the others.
        var settlements: [PushSettlement] = []
        /// Alerts that could not be sent now.
        var deferredCount = 0

        mutating func `defer`(_ claimed: ClaimedAlert, waitMs: Int) {
            settlements.append(PushSettlement(claimed, .defer(waitMs: waitMs)))
            deferredCount += 1
        }
    }

    /// Writes the requests of claimed alerts. What cannot be sent has an outcome at once.
    func prepare(_ alerts: [ClaimedAlert]) async -> Prepared {
        var prepared = Prepared()
        let token: ProviderToken
        do {
            token = try await tokens.token()
        } catch {
            switch error {
            case PushTokenFailure.halt(let reason): halt(reason)
            default: log.warning("getting a provider token failed; retrying in 1 s", reason: "\(error)")
            }
            for claimed in alerts { prepared.defer(claimed, waitMs: Self.deferMs) }
            return prepared
        }
        for claimed in alerts {
            let request: HTTPExchange
            do throws(Unsendable) {
                request = try sender.request(claimed.alert, token, now: WallClock.seconds)
            } catch {
                prepared.settlements.append(conclude(claimed, error.verdict, token, ageMs: claimed.ageMs))
                continue
            }
            switch state.withLock({ $0.pace.admit(request.origin, now: .now) }) {
            case .go: prepared.alerts.append(AlertDelivery(claimed: claimed, request: request, token: token))
            case .wait(let time): prepared.defer(claimed, waitMs: time.milliseconds + .random(in: 0..<1_000))
            }
        }
        return prepared
    }

    func job(_ alert: AlertDelivery) -> Outbound.Job {
        var request = alert.request
        // An accepted alert must not be sent again because the end of the answer is missing.
        request.needsStatusOnly = true
        var transfer = Transfer(.http(request))
        transfer.timeMax = sender.timeMax
        let began = ContinuousClock.now
        return Outbound.Job(transfer) { [self] result in
            let claimed = alert.claimed
            let verdict = sender.verdict(result, claimed.alert, now: WallClock.seconds)
            state.withLock { $0.pace.ended(alert.request.origin, isAlive: verdict.showsLife, now: .now) }
            let settlement: PushSettlement
            if case .failure(.closed) = result {
                // This node's stop cut the transfer short: the next node needn't wait.
                settlement = PushSettlement(claimed, .defer(waitMs: 0))
            } else {
                let ageMs = claimed.ageMs + began.duration(to: .now).milliseconds
                settlement = conclude(claimed, verdict, alert.token, ageMs: ageMs)
            }
            deliveries.answer(alert.key, settlement)
        }
    }

    private func conclude(
        _ claimed: ClaimedAlert, _ verdict: PushVerdict, _ token: ProviderToken, ageMs: Int
    ) -> PushSettlement {
        let outcome: PushSettlement.Outcome
        switch verdict {
        case .accepted:
            outcome = .done
            metrics.sent.add()
            metrics.delays.record(.milliseconds(ageMs))
            state.withLock { $0.hasAccepted = true }
            resume()
        case .forget(let reason):
            outcome = .forget
            resume()
            log.info("a device token is deleted: the push service no longer accepts it", reason: reason)
        case .retry(let asked, let reason):
            let wait = Retries.alerts.wait(
                afterTry: claimed.alert.attempt, asked: asked, random: .random(in: 0..<1))
            outcome = .retry(waitMs: wait?.milliseconds ?? 0)
            metrics.retried.add()
            log.warning("sending an alert failed; it is retried", reason: reason)
        case .renew(let reason):
            outcome = .defer(waitMs: Self.deferMs)
            metrics.retried.add()
            log.warning("the push service refused the provider token; renewing it", reason: reason)
            state.withLock { $0.refusedToken = token }
        case .halt(let reason):
            outcome = .defer(waitMs: Self.deferMs)
            halt(reason)
        case .drop(let reason):
            outcome = .done
            metrics.dropped.add()
            log.warning("an alert is dropped: the push service refused it", reason: reason)
            resume()
        }
        return PushSettlement(claimed, outcome)
    }
}

extension Duration {
    fileprivate var milliseconds: Int { Int(self / .milliseconds(1)) }
}
