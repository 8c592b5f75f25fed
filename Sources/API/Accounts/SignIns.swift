// Bounds on sign-in attempts: how many run at once, how many are accepted per time, and an alarm when many fail.
// The attempts themselves are in Auth.swift, MailedCodes.swift, Delegation.swift and Passwords.swift.
import Basics
import Domain
import Logging
import Store
import Synchronization
import Telemetry
import Transport

/// A try to sign in, or to prove a password, as the bounds see it.
struct SignInAttempt: Sendable {
    enum Way: String, CaseIterable, Sendable { case password, code, token }

    let way: Way
    /// The name that was given, folded, whether there is such an account or not. Nil with `token`: only a good token names
    /// somebody.
    let account: String?
    /// Nil where the connection has none.
    let address: IPAddress?

    /// The lane of the password hasher's line.
    var lane: String { address.lane }
}

extension IPAddress? {
    /// The lane of the password hasher's line for what a client at this address wants.
    var lane: String { map { "\($0)" } ?? "unknown" }
}

/// Lets tries to sign in through, or refuses them with `rate_limited`. From any thread.
package final class SignIns: Sendable {
    let rates: RateLimits
    private let limits: Limits
    private let logger: Logger
    private let underWay = Mutex<[Key: Int]>([:])
    private let failing = Mutex(FailingSignIns())
    private let failures = SignInAttempt.Way.allCases.map { _ in Counter() }
    private let (refusedByAccount, refusedByAddress) = (Counter(), Counter())

    private enum Key: Hashable {
        case account(String)
        case address(IPAddress)
    }

    package init(rates: RateLimits, limits: Limits, logger: Logger) {
        self.rates = rates
        self.limits = limits
        self.logger = logger
    }

    /// Runs a try. The bound on those under way holds always, even where there are no limits per time: each of them has a
    /// password hashed, or waits for that, and a node does that for few at once.
    func run<Value: Sendable>(_ attempt: SignInAttempt, _ body: () async throws -> Value) async throws -> Value {
        let keys = [attempt.account.map { Key.account($0) }, attempt.address.map { Key.address($0) }].compactMap { $0 }
        // A token costs no hash.
        if attempt.way != .token { try enter(keys) }
        defer { if attempt.way != .token { leave(keys) } }
        do {
            return try await rates.signIn(attempt, waitMaxS: limits.signInWaitMaxS, body)
        } catch let problem as Problem where problem.isWrongGuess {
            note(attempt)
            throw problem
        }
    }

    private func enter(_ keys: [Key]) throws(Problem) {
        let full: Key? = underWay.withLock { counts in
            if let full = keys.first(where: { counts[$0, default: 0] >= max(of: $0) }) { return full }
            for key in keys { counts[key, default: 0] += 1 }
            return nil
        }
        switch full {
        case nil: return
        case .account:
            refusedByAccount.add()
            throw Problem(
                .rateLimited, "Too many sign-ins to this account are running. Retry after 1 s.", retryAfterS: 1)
        case .address:
            refusedByAddress.add()
            throw Problem(
                .rateLimited, "Too many sign-ins from this address are running. Retry after 1 s.", retryAfterS: 1)
        }
    }

    private func max(of key: Key) -> Int {
        switch key {
        case .account: limits.accountSignInCountMax
        case .address: limits.addressSignInCountMax
        }
    }

    private func leave(_ keys: [Key]) {
        underWay.withLock { counts in
            for key in keys {
                guard let count = counts[key] else { continue }
                counts[key] = count > 1 ? count - 1 : nil
            }
        }
    }

    private func note(_ attempt: SignInAttempt) {
        if let index = SignInAttempt.Way.allCases.firstIndex(of: attempt.way) { failures[index].add() }
        let alarm = failing.withLock {
            $0.add(
                account: attempt.account?.hashValue, address: attempt.address?.hashValue,
                alarmCount: limits.signInAlarmCount, now: .now)
        }
        guard let alarm else { return }
        logger.warning(
            "sign-ins of many accounts or from many addresses fail: somebody may be guessing passwords or codes",
            metadata: [
                "accounts": "\(alarm.accounts)", "addresses": "\(alarm.addresses)",
                "within_s": "\(FailingSignIns.windowS)",
            ])
    }

    package func write(to text: inout MetricsText) {
        text.counter(
            "parley_sign_in_failures_total", "Sign-ins with wrong credentials, by method.",
            zip(SignInAttempt.Way.allCases, failures).map { ([("way", $0.rawValue)], $1.value) })
        let counts = failing.withLock { $0.counts(now: .now) }
        text.gauge(
            "parley_sign_in_failing",
            "Accounts and client addresses with failed sign-ins on this node, in windows of one minute.",
            [
                ([("what", "accounts")], Double(counts.accounts)), ([("what", "addresses")], Double(counts.addresses)),
            ])
        text.counter(
            "parley_sign_ins_refused_total",
            "Sign-ins refused because too many of one account or address were running.",
            [([("bound", "account")], refusedByAccount.value), ([("bound", "address")], refusedByAddress.value)])
    }
}

extension Problem {
    /// Whether a try was refused because what was given is wrong, so that something was learned by it.
    var isWrongGuess: Bool { code == .wrongCredentials || code == .wrongPassword }
}

/// Which accounts and addresses have failed to sign in lately. Counts names that were tried, so it tells nobody which accounts
/// there are. Pure: the time is given. At most 320 KB.
struct FailingSignIns: Sendable {
    typealias Counts = (accounts: Int, addresses: Int)

    static let windowS = 60
    /// What is counted of each. More make no difference to anybody.
    private static let countMax = 10_000

    private var began: ContinuousClock.Instant?
    private var accounts: Set<Int> = []
    private var addresses: Set<Int> = []
    private var isAlarmed = false

    /// Adds a failure. Returns the counts when one of them has reached `alarmCount`: once a window.
    mutating func add(
        account: Int?, address: Int?, alarmCount: Int, now: ContinuousClock.Instant
    ) -> Counts? {
        if isOver(now) {
            self = FailingSignIns()
            began = now
        }
        if let account, accounts.count < Self.countMax { accounts.insert(account) }
        if let address, addresses.count < Self.countMax { addresses.insert(address) }
        guard !isAlarmed, max(accounts.count, addresses.count) >= alarmCount else { return nil }
        isAlarmed = true
        return (accounts.count, addresses.count)
    }

    /// Of the window that lasts.
    func counts(now: ContinuousClock.Instant) -> Counts { isOver(now) ? (0, 0) : (accounts.count, addresses.count) }

    private func isOver(_ now: ContinuousClock.Instant) -> Bool {
        began.map { $0.duration(to: now) >= .seconds(Self.windowS) } ?? true
    }
}
