// Limits on sign-in attempts: how many run at once, and how many are accepted in a time. Warns when many fail.
// SignIns.swift, MailedCodes.swift, DelegatedSignIns.swift, Passwords.swift and ForgottenPasswords.swift make them.
import Basics
import Domain
import Logging
import Store
import Synchronization
import Telemetry
import Transport

/// An attempt to sign in, or to prove a password, as the limits see it.
struct SignInAttempt: Sendable {
    enum Way: String, CaseIterable, Sendable { case password, code, token }

    let way: Way
    /// The given name, folded, whether or not there is such an account. Nil with `token`: only a valid token names an
    /// account.
    let account: String?
    /// It is nil if the connection has no address.
    let address: IPAddress?

    /// The flow of the password hasher's queue.
    var flow: String { address.flow }
}

extension IPAddress? {
    /// The flow of the password hasher's queue for a client at this address.
    var flow: String { map { "\($0)" } ?? "unknown" }
}

/// Lets attempts to sign in run, or refuses them with `rate_limited`. From any thread.
package final class SignInLimits: Sendable {
    let rates: RateLimits
    private let limits: Limits
    private let logger: Logger
    private let accounts: CallSlots<String>
    private let addresses: CallSlots<IPAddress>
    private let failing = Mutex(FailingSignIns())
    private let failures = LabelledCounters<SignInAttempt.Way>(
        "parley_sign_in_failures_total", "Wrong passwords, codes and tokens, by `way`: password, code, token.",
        by: "way")

    package init(rates: RateLimits, limits: Limits, logger: Logger) {
        self.rates = rates
        self.limits = limits
        self.logger = logger
        accounts = Self.slots(limits.accountSignInCountMax, "to this account")
        addresses = Self.slots(limits.addressSignInCountMax, "from this address")
    }

    /// Runs an attempt. The limit on concurrent attempts always applies, even without rate limits: each attempt hashes
    /// a password or waits for that, and a node hashes few at once.
    func run<Value: Sendable>(_ attempt: SignInAttempt, _ body: () async throws -> Value) async throws -> Value {
        // A token costs no hash.
        let slots = attempt.way == .token ? [] : try await enter(attempt)
        defer { for slot in slots { slot.leave() } }
        do {
            return try await rates.signIn(attempt, waitMaxS: limits.signInWaitMaxS, body)
        } catch let problem as Problem where problem.isWrongGuess {
            recordFailure(of: attempt)
            throw problem
        }
    }

    /// Bounds each account or address alone. Nothing waits.
    private static func slots<Flow>(_ countMax: Int, _ which: String) -> CallSlots<Flow> {
        CallSlots(
            SlotLimits(slotCount: .max, waitingCountMax: 0, flowSlotCount: countMax, flowWaitingCountMax: 0),
            flowFull: Problem(
                .rateLimited, "Too many sign-ins \(which) are running. Retry after 1 s.", retryAfterS: 1))
    }

    private func enter(_ attempt: SignInAttempt) async throws -> [HeldSlot] {
        var slots: [HeldSlot] = []
        if let account = attempt.account { slots.append(try await accounts.hold(account)) }
        if let address = attempt.address { slots.append(try await addresses.hold(address)) }
        return slots
    }

    /// Counts a failure, and warns when many accounts or addresses fail.
    private func recordFailure(of attempt: SignInAttempt) {
        failures.add(attempt.way)
        let alarm = failing.withLock {
            $0.add(
                account: attempt.account?.hashValue, address: attempt.address?.hashValue,
                alarmCount: limits.signInAlarmCount, now: .now)
        }
        guard let alarm else { return }
        logger.warning(
            "sign-ins of many accounts or from many addresses fail; somebody may be guessing passwords or codes",
            metadata: [
                "accounts": "\(alarm.accounts)", "addresses": "\(alarm.addresses)",
                "within_s": "\(FailingSignIns.windowS)",
            ])
    }

    package func write(to text: inout MetricsText) {
        failures.write(to: &text)
        let counts = failing.withLock { $0.counts(now: .now) }
        text.gauge(
            "parley_sign_in_failing",
            "Different accounts and client addresses (`what`) with failed sign-ins on this node within a minute.",
            [
                ([("what", "accounts")], Double(counts.accounts)), ([("what", "addresses")], Double(counts.addresses)),
            ])
        text.counter(
            "parley_sign_ins_refused_total",
            "Sign-ins refused because too many of an account or address were in progress, by `bound`: account, address.",
            [([("bound", "account")], accounts.refused.value), ([("bound", "address")], addresses.refused.value)])
    }
}

extension Problem {
    /// Whether an attempt failed because the credentials are wrong, so that it was a guess.
    var isWrongGuess: Bool { code == .wrongCredentials || code == .wrongPassword || code == .wrongCode }
}
