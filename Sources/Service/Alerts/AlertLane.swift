// One platform's alerts, sent by this node.
import Domain
import Foundation
import Log
import Logging
import Outbound
import Push
import Store
import Synchronization
import Telemetry

/// Takes alerts out of the database as fast as they go out, and says there what became of each. Any number of nodes
/// may; an alert is one node's for as long as it may take, then another's if it says nothing, under the same id.
final class AlertLane: Sendable {
    typealias Clock = ContinuousClock

    struct Lengths: Sendable {
        /// Alerts under way at once: what four connections of a hundred streams each take, nearly.
        var inFlightMax = 256
        /// Taken by one call. One for a few costs as much as one for many, so it waits for room for half of that.
        var claimMax = 128
        /// Written down by one call at least, if there are so many within the pause.
        var settleMin = 64
        /// Longer than a transfer may take, and noting what came of it, by as much as a busy machine may be late.
        var leaseSeconds = 60
        var lifeSeconds: Int
    }

    /// What the callbacks and the task share. Decided under the lock, done after it.
    fileprivate struct State {
        var pace: PushPace
        var settlements: [PushSettlement] = []
        var isSettling = false
        /// The last call failed: the beat tries again.
        var isStuck = false
        /// Alerts may be due.
        var isDue = false
        var refusedToken: ProviderToken?
        var hasAccepted = false
        var isClosing = false
        var ended: CheckedContinuation<Void, Never>?
    }

    /// One call's worth, so that it is short.
    private static let settleMax = 256
    /// Between two calls while there is little to take or to note.
    private static let pause = Duration.milliseconds(25)
    /// For what wasn't sent for a reason that may be over soon.
    private static let turnWaitMs = 1_000

    let platform: PushPlatform
    private let sender: AlertSender
    private let store: Store
    private let outbound: Outbound
    private let lengths: Lengths
    private let metrics: AlertMetrics.Lane
    private let complaints: PushComplaints
    private let state: Mutex<State>
    private let bell = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(
        _ platform: PushPlatform, _ sender: AlertSender, store: Store, outbound: Outbound, lengths: Lengths,
        metrics: AlertMetrics.Lane, logger: Logger
    ) {
        self.platform = platform
        self.sender = sender
        self.store = store
        self.outbound = outbound
        self.lengths = lengths
        self.metrics = metrics
        complaints = PushComplaints(platform, logger)
        state = Mutex(
            State(
                pace: PushPace(
                    inFlightMax: lengths.inFlightMax,
                    originInFlightMax: min(sender.originInFlightMax, lengths.inFlightMax))))
    }

    /// There may be something due. From any thread.
    @Sendable func wake() {
        state.withLock { state in
            state.isDue = true
            // The beat has come round since a call failed.
            state.isStuck = false
        }
        bell.continuation.yield()
    }

    /// Runs until cancelled. Then what is under way may still arrive, for so long, and is noted.
    func run(closeMax: Duration) async {
        var tokens = ProviderTokens(sender, store: store, outbound: outbound)
        for await _ in bell.stream {
            do {
                try await work(&tokens)
            } catch {
                if Task.isCancelled { break }
                metrics.failures.add()
                complaints.say("sending alerts has to wait", "\(error)")
            }
        }
        outbound.close(within: closeMax)
        state.withLock { $0.isClosing = true }
        pump()
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if !state.isIdle { state.ended = continuation }
                return state.isIdle
            }
            if isDone { continuation.resume() }
        }
    }

    /// Until nothing is under way or to be noted, and nothing is due or may go.
    private func work(_ tokens: inout ProviderTokens) async throws {
        while true {
            try await look(at: &tokens)
            pump()
            let isFull = try await take(&tokens)
            if isFull { continue }
            if state.withLock({ $0.isIdle && (!$0.isDue || $0.pace.room(now: .now) <= 0) }) { return }
            try await Task.sleep(for: Self.pause)
        }
    }

    /// Takes alerts, and sends them; whether there may be more at once.
    private func take(_ tokens: inout ProviderTokens) async throws -> Bool {
        let limit = state.withLock { state in
            let room = min(state.pace.room(now: .now), lengths.claimMax)
            guard state.isDue, room >= lengths.claimMax / 2 || state.pace.isHalted else { return 0 }
            if room > 0 { state.isDue = false }
            return room
        }
        guard limit > 0 else { return false }
        let claim = try await store.claimAlerts(
            platform, limit: limit, leaseSeconds: lengths.leaseSeconds, lifeSeconds: lengths.lifeSeconds)
        for (reason, count) in claim.suppressed { metrics.suppress(reason, count) }
        let sentCount = claim.alerts.isEmpty ? 0 : try await send(claim.alerts, &tokens)
        // Where none may go, the others would be put off in their turn: the next look is soon enough.
        let hasMore = claim.alerts.count + claim.suppressed.count == limit && (sentCount > 0 || claim.alerts.isEmpty)
        if hasMore || !claim.suppressed.isEmpty { state.withLock { $0.isDue = true } }
        return hasMore
    }

    /// Takes note of what the service said of our token.
    private func look(at tokens: inout ProviderTokens) async throws {
        let (refused, hasAccepted) = state.withLock { state in
            defer { (state.refusedToken, state.hasAccepted) = (nil, false) }
            return (state.refusedToken, state.hasAccepted)
        }
        if hasAccepted { tokens.accepted() }
        if let refused, try await tokens.refuse(refused) { halt("token_refused") }
    }

    /// Gives how many went out.
    private func send(_ alerts: [ClaimedAlert], _ tokens: inout ProviderTokens) async throws -> Int {
        let token: ProviderToken
        do {
            token = try await tokens.token()
        } catch {
            switch error {
            case PushTokenFailure.halt(let reason): halt(reason)
            default: complaints.say("there is no token for alerts", "\(error)")
            }
            settle(alerts.map { PushSettlement($0, .defer(waitMs: Self.turnWaitMs)) })
            return 0
        }
        var jobs: [Outbound.Job] = []
        var putOff: [PushSettlement] = []
        for claimed in alerts {
            let request: HTTPExchange
            do throws(Unsendable) {
                request = try sender.request(claimed.alert, token, now: Self.now)
            } catch {
                conclude(claimed, error.verdict, token, ageMs: claimed.ageMs)
                continue
            }
            switch state.withLock({ $0.pace.admit(request.origin, now: .now) }) {
            case .go:
                jobs.append(job(request, of: claimed, token))
            case .wait(let time):
                putOff.append(PushSettlement(claimed, .defer(waitMs: time.milliseconds + .random(in: 0..<1_000))))
            }
        }
        outbound.begin(jobs)
        settle(putOff)
        return alerts.count - putOff.count
    }

    private func job(_ request: HTTPExchange, of claimed: ClaimedAlert, _ token: ProviderToken) -> Outbound.Job {
        var request = request
        // What was taken mustn't go again because the answer's end is missing.
        request.needsStatusOnly = true
        var transfer = Transfer(.http(request))
        transfer.timeMax = sender.timeMax
        let origin = request.origin
        let began = Clock.now
        return Outbound.Job(transfer) { [self] result in
            let verdict = sender.verdict(result, claimed.alert, now: Self.now)
            state.withLock { $0.pace.ended(origin, isAlive: verdict.showsLife, now: .now) }
            if case .failure(.closed) = result {
                // Cut short by our own end: the next node needn't wait.
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
            complaints.note("a device's token is forgotten", reason)
        case .retry(let asked, let reason):
            let wait = PushBackoff.wait(
                afterAttempt: claimed.alert.attempt, asked: asked, random: .random(in: 0..<1))
            outcome = .retry(waitMs: wait.milliseconds)
            metrics.retried.add()
            complaints.say("alerts have to be sent again", reason)
        case .renew(let reason):
            outcome = .defer(waitMs: Self.turnWaitMs)
            metrics.retried.add()
            complaints.say("the token for alerts is refused, and renewed", reason)
            state.withLock { $0.refusedToken = token }
        case .halt(let reason):
            outcome = .defer(waitMs: Self.turnWaitMs)
            halt(reason)
        case .drop(let reason):
            outcome = .done
            metrics.dropped.add()
            complaints.say("an alert is dropped", reason)
            resume()
        }
        settle([PushSettlement(claimed, outcome)])
    }

    private func halt(_ reason: String) {
        state.withLock { $0.pace.halt(now: .now) }
        metrics.isHalted.store(true, ordering: .relaxed)
        complaints.alarm(reason)
    }

    private func resume() {
        guard
            state.withLock({ state in
                defer { state.pace.resume() }
                return state.pace.isHalted
            })
        else { return }
        metrics.isHalted.store(false, ordering: .relaxed)
        complaints.note("alerts are sent again", "")
    }

    private static var now: Int { Int(Date().timeIntervalSince1970) }
}

extension AlertLane {
    /// What became of alerts is written down in batches of what waits, and not by the task: what a service has taken
    /// is noted even while the node stops.
    private func settle(_ settlements: [PushSettlement]) {
        let isEnough = state.withLock { state in
            state.settlements += settlements
            return state.settlements.count >= lengths.settleMin || state.isClosing
        }
        if isEnough { pump() }
    }

    private func pump() {
        let batch = state.withLock { state -> [PushSettlement] in
            guard !state.isSettling, !state.isStuck, !state.settlements.isEmpty else { return [] }
            state.isSettling = true
            let batch = Array(state.settlements.prefix(Self.settleMax))
            state.settlements.removeFirst(batch.count)
            return batch
        }
        guard !batch.isEmpty else { return }
        store.settleAlerts(batch) { [self] result in settled(batch, result) }
    }

    private func settled(_ batch: [PushSettlement], _ result: Result<Int, any Error>) {
        state.withLock { state in
            state.isSettling = false
            if case .failure = result {
                // What isn't noted is sent twice. The beat tries again.
                state.settlements.insert(contentsOf: batch, at: 0)
                state.isStuck = true
            } else {
                // The devices' next alerts.
                state.isDue = true
            }
        }
        switch result {
        case .success(let forgottenCount):
            metrics.forgotten.add(forgottenCount)
            if state.withLock({ $0.isClosing || $0.settlements.count >= lengths.settleMin }) { pump() }
        case .failure(let error):
            metrics.failures.add()
            complaints.say("noting what became of alerts has to wait", "\(error)")
        }
        state.withLock { $0.takeEnded() }?.resume()
    }
}

extension AlertLane.State {
    /// Nothing is under way, nothing to be noted, or it can't be.
    fileprivate var isIdle: Bool {
        pace.inFlightCount == 0 && !isSettling && (settlements.isEmpty || isStuck)
    }

    fileprivate mutating func takeEnded() -> CheckedContinuation<Void, Never>? {
        guard isIdle else { return nil }
        defer { ended = nil }
        return ended
    }
}

extension Duration {
    fileprivate var milliseconds: Int { Int(self / .milliseconds(1)) }
}
