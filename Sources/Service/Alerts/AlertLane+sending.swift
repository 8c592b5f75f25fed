// Sending claimed alerts, and what each answer means for its alert.
import Basics
import Domain
import Outbound
import Push
import Store
import Synchronization

extension AlertLane {
    /// For alerts that could not be sent for a reason that may be over soon.
    private static let deferMs = 1_000

    /// Begins the transfers. Returns how many alerts were begun, or concluded without a transfer.
    func send(_ alerts: [ClaimedAlert], _ tokens: inout ProviderTokens) async throws -> Int {
        let token: ProviderToken
        do {
            token = try await tokens.token()
        } catch {
            switch error {
            case PushTokenFailure.halt(let reason): halt(reason)
            default: log.warning("getting a provider token failed; retrying in 1 s", reason: "\(error)")
            }
            settle(alerts.map { PushSettlement($0, .defer(waitMs: Self.deferMs)) })
            return 0
        }
        var jobs: [Outbound.Job] = []
        var deferred: [PushSettlement] = []
        for claimed in alerts {
            let request: HTTPExchange
            do throws(Unsendable) {
                request = try sender.request(claimed.alert, token, now: WallClock.seconds)
            } catch {
                conclude(claimed, error.verdict, token, ageMs: claimed.ageMs)
                continue
            }
            switch state.withLock({ $0.pace.admit(request.origin, now: .now) }) {
            case .go:
                jobs.append(job(request, of: claimed, token))
            case .wait(let time):
                deferred.append(PushSettlement(claimed, .defer(waitMs: time.milliseconds + .random(in: 0..<1_000))))
            }
        }
        outbound.begin(jobs)
        settle(deferred)
        return alerts.count - deferred.count
    }

    private func job(_ request: HTTPExchange, of claimed: ClaimedAlert, _ token: ProviderToken) -> Outbound.Job {
        var request = request
        // An accepted alert must not be sent again because the end of the answer is missing.
        request.needsStatusOnly = true
        var transfer = Transfer(.http(request))
        transfer.timeMax = sender.timeMax
        let origin = request.origin
        let began = ContinuousClock.now
        return Outbound.Job(transfer) { [self] result in
            let verdict = sender.verdict(result, claimed.alert, now: WallClock.seconds)
            state.withLock { $0.pace.ended(origin, isAlive: verdict.showsLife, now: .now) }
            if case .failure(.closed) = result {
                // This node's stop cut the transfer short: the next node needn't wait.
                settle([PushSettlement(claimed, .defer(waitMs: 0))])
            } else {
                conclude(claimed, verdict, token, ageMs: claimed.ageMs + began.duration(to: .now).milliseconds)
            }
        }
    }

    private func conclude(_ claimed: ClaimedAlert, _ verdict: PushVerdict, _ token: ProviderToken, ageMs: Int) {
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
            let wait = PushBackoff.wait(
                afterAttempt: claimed.alert.attempt, asked: asked, random: .random(in: 0..<1))
            outcome = .retry(waitMs: wait.milliseconds)
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
        settle([PushSettlement(claimed, outcome)])
    }
}

extension Duration {
    fileprivate var milliseconds: Int { Int(self / .milliseconds(1)) }
}
