// The limits of rate as the routes ask for them. What they are is in Domain/RateLimit.swift; those of signing in are
// shared through the database, the others are this node's own.
import Credentials
import Domain
import NIOCore
import Store
import Synchronization
import Telemetry
import Transport

/// Refuses what is too often, with `rate_limited`. From any thread.
package final class RateLimits: Sendable {
    private let isOn: Bool
    private let proxies: TrustedProxies
    private let store: Store
    private let registrations = Mutex(TokenBuckets(.registrationsFromAddress))
    private let sends = Mutex(TokenBuckets(.sendsOfAccount))
    private let directory = Mutex(TokenBuckets(.directoryOfAccount))
    private let refusals = RateLimit.all.map { _ in Counter() }

    package init(isOn: Bool, proxies: TrustedProxies, store: Store) {
        self.isOn = isOn
        self.proxies = proxies
        self.store = store
    }

    // MARK: On this node

    /// On the way of every message: some 60 ns, and no allocation.
    func send(by user: UserID) throws(Problem) {
        if isOn { try take(sends, user) }
    }

    func searchDirectory(by user: UserID) throws(Problem) {
        if isOn { try take(directory, user) }
    }

    func register(_ call: Call) throws(Problem) {
        guard isOn, let address = call.clientAddress(proxies) else { return }
        try take(registrations, address)
    }

    private func take(_ buckets: borrowing Mutex<TokenBuckets>, _ who: some Hashable) throws(Problem) {
        // Seeded anew by each process: nobody can choose names that share a bucket.
        let key = UInt64(bitPattern: Int64(who.hashValue))
        let now = Int64(NIODeadline.now().uptimeNanoseconds)
        let (limit, waitNs) = buckets.withLock { ($0.limit, $0.take(key, now: now)) }
        if let waitNs { throw refusal(limit, waitMs: Int(waitNs / 1_000_000) + 1) }
    }

    // MARK: On all nodes together

    /// Runs a try to sign in as `account`, whether there is one or not. One that succeeds doesn't count.
    func signIn<Value: Sendable>(
        _ account: String?, _ call: Call, _ attempt: () async throws -> Value
    ) async throws -> Value {
        guard isOn else { return try await attempt() }
        var buckets = self.bucket(.signInsFromAddress, call).map { [$0] } ?? []
        if let account { buckets.append(Self.bucket(.signInsOfAccount, account)) }
        try await take(buckets)
        let value: Value
        do {
            value = try await attempt()
        } catch let problem as Problem where problem.code == .wrongCredentials {
            throw problem
        } catch {
            // Nothing was learned: no guess.
            await giveBack(buckets)
            throw error
        }
        await giveBack(buckets)
        return value
    }

    /// Whatever becomes of it: a session that was made, and a code that was used for it, are not to be lost with an answer
    /// for this. What isn't given back comes back by itself.
    private func giveBack(_ buckets: [SharedBucket]) async { try? await store.giveTokensBack(buckets) }

    /// A code is to be mailed.
    func mailCode(to address: EmailAddress, _ call: Call) async throws {
        guard isOn else { return }
        let buckets = bucket(.codesFromAddress, call).map { [$0] } ?? []
        try await take(buckets + [Self.bucket(.codesToMailbox, address.key)])
    }

    private func take(_ buckets: [SharedBucket]) async throws {
        if let (limit, waitMs) = try await store.takeTokens(buckets) { throw refusal(limit, waitMs: waitMs) }
    }

    private func bucket(_ limit: RateLimit, _ call: Call) -> SharedBucket? {
        call.clientAddress(proxies).map { Self.bucket(limit, "\($0)") }
    }

    private static func bucket(_ limit: RateLimit, _ who: String) -> SharedBucket {
        SharedBucket(limit: limit, key: Array(SHA256.digest(Array("\(limit.name) \(who)".utf8)).prefix(16)))
    }

    // MARK: Refusing

    private func refusal(_ limit: RateLimit, waitMs: Int) -> Problem {
        if let index = RateLimit.all.firstIndex(of: limit) { refusals[index].add() }
        return .rateLimited(limit, waitMs: waitMs)
    }

    package func write(to text: inout MetricsText) {
        text.counter(
            "parley_rate_limited_total", "Requests that this node refused as too often, by limit (docs/limits.md).",
            zip(RateLimit.all, refusals).map { ([("limit", Self.label($0))], $1.value) })
    }

    /// A word of the name's words: `accountSends`.
    private static func label(_ limit: RateLimit) -> String {
        let words = limit.name.split(separator: "-")
        return words.dropFirst().reduce(String(words.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }
}
