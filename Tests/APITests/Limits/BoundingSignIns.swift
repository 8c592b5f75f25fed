// How many sign-ins may run at once, and when failing ones are logged.
import Basics
import Domain
import Logging
import Store
import Synchronization
import Telemetry
import TestSupport
import Testing
import Transport

@testable import API

@Suite("Concurrent sign-ins", .timeLimit(.minutes(1)))
struct BoundingSignIns {
    private func attempt(
        _ account: String, from address: String = "192.0.2.1", _ way: SignInAttempt.Way = .password
    ) -> SignInAttempt {
        SignInAttempt(way: way, account: account, address: IPAddress(parsing: address))
    }

    private func signIns(
        logger: Logger = .quiet,
        _ change: (inout Limits) -> Void = { _ in }
    ) async throws -> SignInLimits {
        var limits = Limits()
        change(&limits)
        let store = try await TestNode.shared().store
        return SignInLimits(
            rates: RateLimits(isOn: false, proxies: TrustedProxies(), store: store), limits: limits, logger: logger)
    }

    @Test("are limited to two of an account and eight of an address, even with rate limits off; tokens do not count")
    func bounds() async throws {
        let signIns = try await signIns()
        let gate = AsyncStream.makeStream(of: Void.self)
        let running = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            func hold(_ attempt: SignInAttempt) async throws {
                let count = running.value
                group.addTask {
                    try await signIns.run(attempt) {
                        running.add()
                        for await _ in gate.stream {}
                    }
                }
                try await eventually("the attempt to run") { running.value > count }
            }
            func refused(_ attempt: SignInAttempt) async -> Problem? {
                await #expect(throws: Problem.self) { try await signIns.run(attempt) {} }
            }
            try await hold(attempt("ann"))
            try await hold(attempt("ann", from: "192.0.2.2"))
            let problem = await refused(attempt("ann", from: "192.0.2.3"))
            #expect(problem?.code == .rateLimited && problem?.retryAfterS == 1)
            for number in 0..<7 { try await hold(attempt("user \(number)")) }
            #expect(await refused(attempt("user 7"))?.code == .rateLimited)
            try await signIns.run(attempt("user 7", .token)) {}
            try await signIns.run(attempt("user 7", from: "192.0.2.2")) {}
            gate.continuation.finish()
            try await group.waitForAll()
        }
        try await signIns.run(attempt("ann")) {}
        var text = MetricsText()
        signIns.write(to: &text)
        #expect(text.text.contains(#"parley_sign_ins_refused_total{bound="account"} 1"#))
        #expect(text.text.contains(#"parley_sign_ins_refused_total{bound="address"} 1"#))
    }

    @Test("with wrong credentials are counted by kind, and those that fail for another reason are not")
    func counts() async throws {
        let signIns = try await signIns()
        for (way, code) in [
            (SignInAttempt.Way.password, ProblemCode.wrongCredentials), (.password, .wrongPassword),
            (.code, .wrongCredentials), (.password, .unavailable),
        ] {
            await #expect(throws: Problem.self) {
                try await signIns.run(attempt("ann \(code)", way)) { throw Problem(code, "") }
            }
        }
        var text = MetricsText()
        signIns.write(to: &text)
        #expect(text.text.contains(#"parley_sign_in_failures_total{way="password"} 2"#))
        #expect(text.text.contains(#"parley_sign_in_failures_total{way="code"} 1"#))
        #expect(text.text.contains(#"parley_sign_in_failing{what="accounts"} 2"#))
        #expect(text.text.contains(#"parley_sign_in_failing{what="addresses"} 1"#))
    }

    @Test("that fail for many accounts are logged once, without names and addresses")
    func alarm() async throws {
        let lines = LogLines()
        let signIns = try await signIns(logger: lines.logger) { $0.signInAlarmCount = 5 }
        for number in 0..<9 {
            #expect(lines.all.count == (number < 5 ? 0 : 1))
            await #expect(throws: Problem.self) {
                try await signIns.run(attempt("ann \(number)")) { throw Problem(.wrongCredentials, "") }
            }
        }
        let line = try #require(lines.all.first)
        #expect(lines.all.count == 1 && line.hasPrefix("warning: sign-ins of many accounts"), "\(lines.all)")
        #expect(line.contains("accounts") && !line.contains("ann 4") && !line.contains("192.0.2.1"), "\(line)")
    }

    /// Counts up, from several tasks.
    private final class Tally: Sendable {
        private let count = Atomic(0)
        var value: Int { count.load(ordering: .acquiring) }
        func add() { count.add(1, ordering: .acquiringAndReleasing) }
    }
}

@Suite("Failing sign-ins", .timeLimit(.minutes(1)))
struct SignInFailures {
    @Test("are logged once a minute when many accounts or addresses fail, and each counts once")
    func alarms() {
        var failing = FailingSignIns()
        let start = ContinuousClock.now
        for account in 0..<9 {
            for _ in 0..<3 {
                #expect(failing.add(account: account, address: 1, alarmCount: 10, now: start) == nil)
            }
        }
        #expect(failing.counts(now: start) == (9, 1))
        let alarm = failing.add(account: 9, address: 2, alarmCount: 10, now: start + .seconds(30))
        #expect(alarm.map { $0.accounts == 10 && $0.addresses == 2 } == true)
        for account in 10..<50 {
            #expect(failing.add(account: account, address: 1, alarmCount: 10, now: start + .seconds(59)) == nil)
        }
        // A minute later the counts start again.
        #expect(failing.counts(now: start + .seconds(60)) == (0, 0))
        for address in 0..<9 {
            #expect(failing.add(account: 1, address: address, alarmCount: 10, now: start + .seconds(61)) == nil)
        }
        #expect(failing.add(account: nil, address: 9, alarmCount: 10, now: start + .seconds(62)) != nil)
        #expect(failing.counts(now: start + .seconds(62)) == (1, 10))
    }
}
