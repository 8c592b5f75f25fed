// Asks the operator's policy, and decides what happens when it does not answer.
import Basics
import Domain
import Logging
import Synchronization
import Telemetry

/// The policy of a node. From any thread.
///
/// Questions wait in a line of the node with a flow for each account. The wait is not the policy's: its time begins when
/// the question is sent, and only a question that was sent can fail.
package final class PolicyGate: Sendable {
    /// Sends a question. Returns whatever the policy answers.
    package typealias Ask = @Sendable (_ body: [UInt8]) async -> Result<PolicyReply, PolicyFailure>

    private let ask: Ask
    private let failsClosed: Bool
    private let limits: Limits
    private let metrics: PolicyMetrics
    private let log: RateLimitedLog
    private let breaker = Mutex(PolicyBreaker())
    private let slots: CallSlots<UserID>

    /// - Parameters:
    ///   - failsClosed: whether messages are refused while the policy does not answer. Otherwise they are accepted.
    ///   - waitMax: how long a question waits before it is sent.
    ///   - ask: its time is the policy's, so it must not wait for other questions.
    package init(
        failsClosed: Bool, limits: Limits, metrics: PolicyMetrics, waitMax: Duration = .seconds(5), logger: Logger,
        ask: @escaping Ask
    ) {
        self.failsClosed = failsClosed
        self.limits = limits
        self.metrics = metrics
        self.ask = ask
        log = RateLimitedLog(logger)
        slots = CallSlots(
            SlotLimits(
                slotCount: PolicyLimits.inFlightCountMax, waitingCountMax: PolicyLimits.waitingCountMax,
                flowSlotCount: PolicyLimits.accountInFlightCountMax,
                flowWaitingCountMax: PolicyLimits.accountWaitingCountMax),
            waitMax: waitMax,
            flowFull: Problem(
                .rateLimited,
                "Too many messages of this account wait for a check. Retry after the seconds in Retry-After.",
                retryAfterS: 1),
            full: Problem(
                .overloaded, "Too many messages wait for a check. Retry after the seconds in Retry-After.",
                retryAfterS: 1))
    }

    /// How many questions are under way and how many wait.
    var load: (busy: Int, waiting: Int) { slots.load }

    /// Returns the policy's verdict; nil if it gave none and the message is accepted without.
    /// - Throws: 503 if it gave none and the message is not accepted. 429 if the account has too many questions, 503 if
    ///   the node has: nobody was asked then, so the message is not accepted.
    func verdict(about question: PolicyQuestion) async throws -> PolicyVerdict? {
        let slot = try await slot(for: question.message.sender)
        defer { slot.leave() }
        let permit: PolicyBreaker.Permit
        switch breaker.withLock({ $0.admit(now: .now) }) {
        case .ask(let given): permit = given
        case .pause(let pause):
            metrics.failures.add(.paused)
            return try fail(retryAfter: pause)
        }
        let began = ContinuousClock.now
        let result = await ask(question.body).flatMap { question.verdict($0, limits) }
        metrics.times.record(.now - began)
        switch result {
        case .success(let verdict):
            settle { $0.succeeded(permit) }
            metrics.answers.add(verdict.action)
            return verdict
        case .failure(let failure):
            let pause = settle { $0.failed(permit, now: .now, random: .random(in: 0..<1)) }
            metrics.failures.add(failure)
            log.warning(
                failsClosed
                    ? "asking the policy failed; the message is refused with 503"
                    : "asking the policy failed; the message is accepted", reason: failure.rawValue)
            if pause != nil { log.warning("the policy failed too often; it is not asked for some seconds") }
            return try fail(retryAfter: pause ?? .seconds(1))
        }
    }

    private func slot(for account: UserID) async throws -> HeldSlot {
        do {
            return try await slots.hold(account)
        } catch let problem as Problem {
            metrics.failures.add(.overloaded)
            throw problem
        }
    }

    private func settle<Outcome: Sendable>(_ change: (inout sending PolicyBreaker) -> sending Outcome) -> Outcome {
        breaker.withLock { breaker in
            let outcome = change(&breaker)
            metrics.paused.set(breaker.isOpen ? 1 : 0)
            return outcome
        }
    }

    private func fail(retryAfter: Duration) throws -> PolicyVerdict? {
        guard failsClosed else { return nil }
        throw Problem(
            .unavailable, "Messages cannot be checked at the moment. Retry after the seconds in Retry-After.",
            retryAfterS: max(1, Int((retryAfter / .seconds(1)).rounded(.up))))
    }
}
