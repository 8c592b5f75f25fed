// Rate limits: token buckets, which address counts, and that docs/limits.md agrees with the code.
import Basics
import Domain
import Foundation
import Synchronization
import TestSupport
import Testing
import Transport

@testable import API

@Suite("Token buckets", .timeLimit(.minutes(1)))
struct BucketTables {
    /// Ten in ten seconds.
    private static let limit = RateLimit("test", quota: 10, windowS: 10)
    private static let secondNs: Int64 = 1_000_000_000

    @Test("allow a burst of the whole quota, then one token a step, and return the wait")
    func rush() {
        var buckets = TokenBuckets(Self.limit, groupCount: 1)
        for _ in 0..<10 { #expect(buckets.take(7, now: 0) == nil) }
        #expect(buckets.take(7, now: 0) == Self.secondNs)
        #expect(buckets.take(7, now: Self.secondNs / 4) == Self.secondNs / 4 * 3)
        #expect(buckets.take(7, now: Self.secondNs) == nil)
        #expect(buckets.take(7, now: Self.secondNs) == Self.secondNs)
        // The bucket is full again, and holds no more than the quota.
        for _ in 0..<10 { #expect(buckets.take(7, now: 100 * Self.secondNs) == nil) }
        #expect(buckets.take(7, now: 100 * Self.secondNs) == Self.secondNs)
    }

    @Test("return the wait without using up a token")
    func waits() {
        var buckets = TokenBuckets(Self.limit, groupCount: 1)
        #expect(buckets.wait(7, now: 0) == nil)
        for _ in 0..<10 { #expect(buckets.take(7, now: 0) == nil) }
        for _ in 0..<3 { #expect(buckets.wait(7, now: 0) == Self.secondNs) }
        #expect(buckets.wait(7, now: Self.secondNs) == nil && buckets.wait(8, now: 0) == nil)
    }

    @Test("are separate for each key, and never exceed the quota plus the refill, in any order")
    func law() {
        var random = SplitMix64(freshFor: "token buckets")
        var buckets = TokenBuckets(Self.limit)
        var taken: [UInt64: [Int64]] = [:]
        var now: Int64 = 0
        for _ in 0..<20_000 {
            now += Int64.random(in: 0...200_000_000, using: &random)
            let key = UInt64.random(in: 1...20, using: &random)
            if buckets.take(key, now: now) == nil { taken[key, default: []].append(now) }
        }
        for times in taken.values {
            #expect(times.count > 100)
            // Between any two uses: at most the quota and the tokens that have come back meanwhile.
            for (index, start) in times.enumerated() {
                for later in index..<min(index + 40, times.count) {
                    #expect(Int64(later - index + 1) <= 10 + (times[later] - start) / Self.secondNs)
                }
            }
        }
    }

    @Test("drop the fullest entries when there are too many, and never an empty one")
    func flood() {
        var buckets = TokenBuckets(Self.limit, groupCount: 1)
        for _ in 0..<10 { #expect(buckets.take(1, now: 0) == nil) }
        for key in 2..<10_000 { #expect(buckets.take(UInt64(key), now: 0) == nil) }
        #expect(buckets.take(1, now: 0) == Self.secondNs)
    }

    @Test("grant several tokens or none, and all tokens for a cost above the quota")
    func costs() {
        var buckets = TokenBuckets(Self.limit)
        #expect(buckets.take(7, cost: 8, now: 0) == nil)
        #expect(buckets.take(7, cost: 4, now: 0) == 2 * Self.secondNs)
        #expect(buckets.take(7, cost: 2, now: 0) == nil)
        #expect(buckets.take(7, cost: 50, now: 9 * Self.secondNs) == Self.secondNs)
        #expect(buckets.take(7, cost: 50, now: 10 * Self.secondNs) == nil)
        #expect(buckets.take(7, now: 10 * Self.secondNs) == Self.secondNs)
    }

    @Test("go into debt by at most the quota, and accept unused tokens back")
    func debt() {
        var buckets = TokenBuckets(Self.limit)
        #expect(buckets.take(7, now: 0) == nil)
        buckets.charge(7, cost: 12, now: 0)
        #expect(buckets.take(7, now: 0) == 4 * Self.secondNs)
        buckets.charge(7, cost: .max, now: 0)
        #expect(buckets.take(7, now: 0) == 11 * Self.secondNs)
        #expect(buckets.take(7, now: 11 * Self.secondNs) == nil)
        buckets.giveBack(7)
        #expect(buckets.take(7, now: 11 * Self.secondNs) == nil)
        // An unknown bucket: there is nothing to refund.
        buckets.giveBack(8)
        for _ in 0..<10 { #expect(buckets.take(8, now: 0) == nil) }
        #expect(buckets.take(8, now: 0) != nil)
    }

    @Test("accept any value as key", arguments: [0, UInt64.max])
    func keys(_ key: UInt64) {
        var buckets = TokenBuckets(Self.limit)
        for _ in 0..<10 { #expect(buckets.take(key, now: .max / 2) == nil) }
        #expect(buckets.take(key, now: .max / 2) != nil)
    }
}

@Suite("The address of a client", .timeLimit(.minutes(1)))
struct ClientAddresses {
    private func client(_ peer: String, _ forwarded: [String], trusting ranges: [String]) throws -> String? {
        let proxies = TrustedProxies(try ranges.map { try #require(AddressRange(parsing: $0)) })
        return proxies.client(peer: IPAddress(parsing: peer), forwarded: forwarded).map { "\($0)" }
    }

    @Test("is the peer's, whatever headers say, unless the peer is a trusted proxy")
    func peers() throws {
        #expect(try client("203.0.113.7", ["192.0.2.1"], trusting: []) == "203.0.113.7")
        #expect(try client("203.0.113.7", ["192.0.2.1"], trusting: ["10.0.0.0/8"]) == "203.0.113.7")
        #expect(try client("10.1.2.3", [], trusting: ["10.0.0.0/8"]) == "10.1.2.3")
        #expect(try client("", ["192.0.2.1"], trusting: ["0.0.0.0/0"]) == nil)
    }

    @Test(
        "is the right-most one that is not a proxy's, and entries left of it are ignored",
        arguments: [
            (["192.0.2.1"], "192.0.2.1"), (["198.51.100.9, 192.0.2.1"], "192.0.2.1"),
            (["198.51.100.9", "192.0.2.1, 10.0.0.2"], "192.0.2.1"),
            (["198.51.100.9, 10.9.9.9,10.0.0.2"], "198.51.100.9"),
            (["10.9.9.9"], "10.9.9.9"), (["192.0.2.1:4711"], "192.0.2.1"), (["[2001:db8::1]:4711"], "2001:db8::"),
            (["198.51.100.9, unknown"], "10.1.2.3"), (["198.51.100.9, unknown, 10.0.0.2"], "10.0.0.2"),
            ([""], "10.1.2.3"),
            (["192.0.2.1,"], "192.0.2.1"), (["::ffff:192.0.2.1"], "192.0.2.1"),
        ])
    func headers(_ forwarded: [String], _ expected: String) throws {
        #expect(try client("10.1.2.3", forwarded, trusting: ["10.0.0.0/8"]) == expected)
    }

    @Test("is a network for IPv6")
    func networks() throws {
        #expect(try client("2001:db8:1:2:3:4:5:6", [], trusting: []) == "2001:db8:1:2::")
        #expect(try client("fd00::1", ["2001:db8:1:2:3:4:5:6"], trusting: ["fd00::/8"]) == "2001:db8:1:2::")
    }

    @Test("is in a range exactly when the range contains it")
    func ranges() throws {
        func contains(_ range: String, _ address: String) throws -> Bool {
            try #require(AddressRange(parsing: range)).contains(try #require(IPAddress(parsing: address)))
        }
        #expect(try contains("10.0.0.0/8", "10.255.0.1") && !contains("10.0.0.0/8", "11.0.0.0"))
        #expect(try contains("10.9.9.9/8", "10.0.0.1"))
        #expect(try contains("192.0.2.1", "192.0.2.1") && !contains("192.0.2.1", "192.0.2.2"))
        #expect(try contains("2001:db8::/33", "2001:db8:7fff::1") && !contains("2001:db8::/33", "2001:db8:8000::1"))
        #expect(try contains("2001:db8::/97", "2001:db8::7fff:1") && !contains("2001:db8::/97", "2001:db8::8000:1"))
        #expect(try contains("0.0.0.0/0", "255.1.1.1") && !contains("0.0.0.0/0", "2001:db8::1"))
        #expect(try contains("::/0", "2001:db8::1"))
        for text in ["", "x", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/08", "10.0.0.0/8/8", "::/129"] {
            #expect(AddressRange(parsing: text) == nil)
        }
    }
}

@Suite("Rate limits", .timeLimit(.minutes(1)))
struct LimitingRates {
    @Test("are listed in docs/limits.md with their defaults and settings (make docs writes the table)")
    func document() throws {
        let rows = RateLimit.all.map { limit in
            [
                "`\(limit.name)`", limit.subject, "\(limit.quota)", "\(limit.windowS) s",
                limit.scope == .node ? "on each node" : "on all nodes", "`PARLEY_\(limit.settingKey.uppercased())`",
            ]
        }
        try GeneratedText.check(
            "docs/limits.md", "limits",
            is: GeneratedText.table(["limit", "counts", "quota", "window", "counted", "setting"], rows))
    }

    @Test("have unique names, and use the quota of their setting")
    func quotas() {
        #expect(Set(RateLimit.all.map(\.name)).count == RateLimit.all.count)
        var quotas = RateQuotas()
        quotas[.typingOfAccount] = 7
        #expect(quotas.applied(to: .typingOfAccount).quota == 7 && quotas[.sendsOfAccount] == 12_000)
        quotas[.typingOfAccount] = RateLimit.typingOfAccount.quota
        #expect(quotas == RateQuotas())
    }

    @Test("apply to every call that changes something, except calls that end sessions or accounts")
    func routes() async throws {
        let routes = try await TestNode.shared().routes
        let exempt: Set<OperationID> = [.logout, .deleteSession, .deleteOtherSessions, .eraseOwnAccount]
        for route in routes where route.needsToken && route.adminScope == nil {
            let writes = route.method != .get
            #expect(
                route.operation.accountLimits.isEmpty == (!writes || exempt.contains(route.operation))
                    || route.operation == .searchUsers,
                "\(route.method) \(route.pattern)")
        }
    }

    @Test("for sends and the directory are per account, and off means no limit")
    func accounts() async throws {
        let store = try await TestNode.shared().store
        let rates = RateLimits(isOn: true, proxies: TrustedProxies(), store: store)
        let off = RateLimits(isOn: false, proxies: TrustedProxies(), store: store)
        let (ann, bob) = (UserID.make(), UserID.make())
        // At most the tokens of one step come back while this runs.
        let clock = ContinuousClock()
        let began = clock.now
        var sentCount = 0
        let problem = #expect(throws: Problem.self) {
            for _ in 0..<100_000 {
                try rates.send(by: ann)
                sentCount += 1
            }
        }
        let back = Int(began.duration(to: clock.now) / .milliseconds(5)) + 1
        #expect((12_000...12_000 + back).contains(sentCount))
        #expect(problem?.code == .rateLimited && problem?.limit == .sendsOfAccount && problem?.retryAfterS == 1)
        try rates.send(by: bob)
        try rates.take(.directoryOfAccount, by: ann)
        for _ in 0..<20_000 { try off.send(by: ann) }
    }
}
