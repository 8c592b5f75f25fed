// Wrong admin tokens: limited by address, counted, and logged once a minute.
import Basics
import Credentials
import Domain
import Log
import Logging
import Synchronization
import Telemetry
import TestSupport
import Testing
import Transport

@testable import API

@Suite("Guessing the admin token", .timeLimit(.minutes(1)))
struct GuessingTheAdminToken {
    private static let token = "the-right-token-of-the-test"

    private func makeGuard(isOn: Bool = true) async throws -> (AdminGuard, RateLimits, LogLines) {
        let lines = LogLines()
        let store = try await TestNode.shared().store
        let rates = RateLimits(isOn: isOn, proxies: TrustedProxies(), store: store)
        let logger = Logger(label: "test", factory: { _ in lines })
        let guarded = AdminGuard(
            [AdminToken("another-token-of-the-test"), AdminToken(Self.token)], keys: AdminKeyCache(store), rates: rates,
            logger: logger, isFresh: { true })
        return (guarded, rates, lines)
    }

    /// Returns the problem code of a refused call; nil if the call is accepted.
    private func refusal(_ guarded: AdminGuard, _ authorization: String?, from address: IPAddress?) -> ProblemCode? {
        do {
            try guarded.check(authorization, from: address, needing: .audit)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("is blocked after sixty attempts from one address, even with the right token, but not from other addresses")
    func limits() async throws {
        let (guarded, rates, lines) = try await makeGuard()
        let attacker = IPAddress(parsing: "192.0.2.1")
        let other = IPAddress(parsing: "192.0.2.2")
        for _ in 0..<60 {
            #expect(refusal(guarded, "Bearer wrong", from: attacker) == .invalidToken)
        }
        for token in ["wrong", Self.token] {
            let found = refusal(guarded, "Bearer \(token)", from: attacker)
            #expect(found == .rateLimited)
        }
        #expect(refusal(guarded, "Bearer \(Self.token)", from: other) == nil)
        #expect(refusal(guarded, nil, from: other) == .unauthenticated)
        var text = MetricsText()
        rates.write(to: &text)
        #expect(text.text.contains("parley_admin_wrong_tokens_total 60\n"))
        #expect(text.text.contains("parley_rate_limited_total{limit=\"addressAdminGuesses\"} 2\n"))
        #expect(lines.all.count == 1, "\(lines.all)")
        #expect(lines.all.allSatisfy { $0.hasPrefix("warning: ") && !$0.contains("192.0.2.1") })
    }

    @Test("is never blocked for the right token alone, nor with limits off")
    func right() async throws {
        let (guarded, _, lines) = try await makeGuard()
        let address = IPAddress(parsing: "192.0.2.1")
        for _ in 0..<500 { try guarded.check("Bearer \(Self.token)", from: address, needing: .audit) }
        #expect(lines.all.isEmpty)
        let (off, _, _) = try await makeGuard(isOn: false)
        for _ in 0..<100 {
            #expect(refusal(off, "Bearer wrong", from: address) == .invalidToken)
        }
    }
}
