// The rate limits, as routes use them. Domain defines their names and defaults. Limits of scope `service` are counted
// in the database, the others on each node.
import Basics
import Cryptography
import Domain
import HTTPTypes
import NIOCore
import Store
import Synchronization
import Telemetry
import Transport

/// Refuses requests above a rate limit with `rate_limited`. From any thread.
package final class RateLimits: Sendable {
    let isOn: Bool
    private let quotas: RateQuotas
    let proxies: TrustedProxies
    let store: Store
    /// Separate, so that a send needs no look-up.
    private let sends: NodeBuckets
    /// The buckets of every limit that this node counts, by the limit's name.
    private let buckets: [String: NodeBuckets]
    private let adminGuessCount = Counter("parley_admin_wrong_tokens_total", "Calls with a wrong admin token.")
    private let unknownTokens = LabelledCounters<LookedUpToken>(
        "parley_unknown_tokens_total",
        "Calls with a well-formed token that does not exist, by `kind`: session, hook, key.", by: "kind")
    private let refusals = RateLimit.all.map { _ in Counter() }

    package init(isOn: Bool, quotas: RateQuotas = RateQuotas(), proxies: TrustedProxies, store: Store) {
        self.isOn = isOn
        self.quotas = quotas
        self.proxies = proxies
        self.store = store
        buckets = Dictionary(
            uniqueKeysWithValues: RateLimit.all.filter { $0.scope == .node }.map {
                ($0.name, NodeBuckets(quotas.applied(to: $0)))
            })
        sends = buckets[RateLimit.sendsOfAccount.name] ?? NodeBuckets(quotas.applied(to: .sendsOfAccount))
    }

    /// The client address of a call. Nil if the connection has none.
    func address(of call: Call) -> IPAddress? { address(of: call.request) }

    // MARK: On this node

    /// Takes a token for a send. Costs about 60 ns and no allocation.
    func send(by user: UserID) throws(Problem) {
        if isOn { try take(sends, user) }
    }

    /// Takes `cost` tokens of an account's bucket, or throws.
    /// - Parameter limit: a limit that each node counts.
    func take(_ limit: RateLimit, by user: UserID, cost: Int = 1) throws(Problem) {
        guard isOn, cost > 0, let buckets = buckets[limit.name] else { return }
        try take(buckets, user, cost: cost)
    }

    /// Takes a token of the hook with this token digest.
    func post(toHook digest: [UInt8]) throws(Problem) {
        guard isOn, let buckets = buckets[RateLimit.postsToHook.name] else { return }
        try take(buckets, digest)
    }

    /// Charges for the members that a change has reached: 1 token for each 100. The bucket may go into debt.
    func charge(reaching memberCount: Int, by user: UserID) {
        guard isOn, memberCount >= 100, let buckets = buckets[RateLimit.writesOfAccount.name] else { return }
        buckets.charge(user, cost: memberCount / 100)
    }

    /// Whether an account has a token of a limit whose cost is known only after the work. Takes none.
    package func allows(_ limit: RateLimit, to user: UserID) -> Bool {
        guard isOn, buckets[limit.name]?.wait(user) != nil else { return true }
        count(limit)
        return false
    }

    /// Charges for work that was done. The bucket may go into debt.
    package func charge(_ limit: RateLimit, to user: UserID, cost: Int) {
        if isOn, cost > 0 { buckets[limit.name]?.charge(user, cost: cost) }
    }

    /// Gives back a token that was taken for work that was not done.
    func giveBack(_ limit: RateLimit, to user: UserID) {
        if isOn { buckets[limit.name]?.giveBack(user) }
    }

    func register(_ call: Call) throws(Problem) {
        guard isOn, let address = address(of: call) else { return }
        guard let buckets = buckets[RateLimit.registrationsFromAddress.name] else { return }
        try take(buckets, address)
    }

    /// Refuses an address that has sent too many wrong admin tokens.
    func useAdminToken(from address: IPAddress?) throws(Problem) {
        try checkGuesses(.adminGuessesFromAddress, from: address)
    }

    private func checkGuesses(_ limit: RateLimit, from address: IPAddress?) throws(Problem) {
        guard isOn, let address, let buckets = buckets[limit.name] else { return }
        if let waitNs = buckets.wait(address) {
            throw refusal(buckets.limit, waitMs: Int(waitNs / 1_000_000) + 1)
        }
    }

    /// A token that this node does not know is looked up in the database.
    enum LookedUpToken: String, CaseIterable { case session, hook, key }

    /// Looks up a token. Counts unknown ones by address, and refuses an address that has sent too many before the
    /// database is asked.
    func lookUp<Found: Sendable>(
        _ kind: LookedUpToken, from address: IPAddress?, _ find: () async throws -> Found?
    ) async throws -> Found? {
        try checkGuesses(.unknownTokensFromAddress, from: address)
        if let found = try await find() { return found }
        unknownTokens.add(kind)
        if isOn, let address { _ = buckets[RateLimit.unknownTokensFromAddress.name]?.take(address, cost: 1) }
        return nil
    }

    /// Counts a wrong admin token.
    func guessedAdminToken(from address: IPAddress?) {
        adminGuessCount.add()
        guard isOn, let address else { return }
        _ = buckets[RateLimit.adminGuessesFromAddress.name]?.take(address, cost: 1)
    }

    /// The client address of a request, behind trusted proxies.
    func address(of request: InboundRequest) -> IPAddress? {
        proxies.client(peer: request.peerAddress, forwarded: request.headers[values: .xForwardedFor])
    }

    private func take(_ buckets: NodeBuckets, _ who: some Hashable, cost: Int = 1) throws(Problem) {
        if let waitNs = buckets.take(who, cost: cost) {
            throw refusal(buckets.limit, waitMs: Int(waitNs / 1_000_000) + 1)
        }
    }

    // MARK: On all nodes together

    /// Takes the tokens for mailing a code.
    func mailCode(to address: EmailAddress, _ call: Call) async throws {
        guard isOn else { return }
        let buckets = self.address(of: call).map { [bucket(.codesFromAddress, "\($0)")] } ?? []
        try await take(buckets + [bucket(.codesToMailbox, address.key)])
    }

    func take(_ buckets: [SharedBucket]) async throws {
        if let (limit, waitMs) = try await store.takeTokens(buckets) { throw refusal(limit, waitMs: waitMs) }
    }

    func bucket(_ limit: RateLimit, _ who: String) -> SharedBucket {
        SharedBucket(limit: quotas.applied(to: limit), key: Self.digest("\(limit.name) \(who)"))
    }

    /// A digest in place of a person's name or address, so that the database stores neither.
    static func digest(_ text: String) -> [UInt8] { Array(SHA256.digest(Array(text.utf8)).prefix(16)) }

    /// An account's bucket, for SQL that takes its tokens in the same transaction as the work. Nil without a limit.
    func bucket(_ limit: RateLimit, of user: UserID) -> SharedBucket? {
        isOn ? bucket(limit, "\(user)") : nil
    }

    // MARK: Refusing

    func refusal(_ limit: RateLimit, waitMs: Int) -> Problem {
        count(limit)
        return .rateLimited(limit, waitMs: waitMs)
    }

    /// Runs a call that the database may refuse for a rate limit, and counts the refusal.
    func counting<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let problem as Problem {
            if let limit = problem.limit { count(limit) }
            throw problem
        }
    }

    private func count(_ limit: RateLimit) {
        if let index = RateLimit.all.firstIndex(where: { $0.name == limit.name }) { refusals[index].add() }
    }

    package func write(to text: inout MetricsText) {
        adminGuessCount.write(to: &text)
        unknownTokens.write(to: &text)
        text.counter(
            "parley_rate_limited_total", "Requests that this node refused with 429, by `limit` (docs/limits.md).",
            zip(RateLimit.all, refusals).map { ([("limit", Self.label($0))], $1.value) })
    }

    /// The name in camel case: `accountSends`.
    private static func label(_ limit: RateLimit) -> String {
        let words = limit.name.split(separator: "-")
        return words.dropFirst().reduce(String(words.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }
}

/// The buckets of one limit on this node. From any thread.
private final class NodeBuckets: Sendable {
    let limit: RateLimit
    private let buckets: Mutex<TokenBuckets>

    init(_ limit: RateLimit) {
        self.limit = limit
        buckets = Mutex(TokenBuckets(limit))
    }

    /// Returns nil if the tokens were there, or else the nanoseconds until they are.
    func take(_ who: some Hashable, cost: Int) -> Int64? {
        let (key, now) = (Self.key(who), Self.now())
        return buckets.withLock { $0.take(key, cost: cost, now: now) }
    }

    /// Returns nil if a token is there, and leaves it. Otherwise returns the nanoseconds until there is one.
    func wait(_ who: some Hashable) -> Int64? {
        let (key, now) = (Self.key(who), Self.now())
        return buckets.withLock { $0.wait(key, now: now) }
    }

    func charge(_ who: some Hashable, cost: Int) {
        let (key, now) = (Self.key(who), Self.now())
        buckets.withLock { $0.charge(key, cost: cost, now: now) }
    }

    func giveBack(_ who: some Hashable) {
        let key = Self.key(who)
        buckets.withLock { $0.giveBack(key) }
    }

    /// Each process has a random seed, so that callers cannot choose names that share a bucket.
    private static func key(_ who: some Hashable) -> UInt64 { UInt64(bitPattern: Int64(who.hashValue)) }

    private static func now() -> Int64 { Int64(NIODeadline.now().uptimeNanoseconds) }
}

extension HTTPField.Name {
    fileprivate static let xForwardedFor = Self("X-Forwarded-For")!
}
