// When the policy is asked although it fails: the state machine alone.
import API
import Testing

@Suite("Pausing the policy")
struct PausingThePolicy {
    private static let start = ContinuousClock.now

    private static func permit(_ breaker: inout PolicyBreaker, at time: Duration) throws -> PolicyBreaker.Permit {
        guard case .ask(let permit) = breaker.admit(now: start + time) else {
            throw Unexpected(description: "a pause at \(time)")
        }
        return permit
    }

    private struct Unexpected: Error { let description: String }

    /// Fails as often as it takes to begin a pause.
    private static func open(_ breaker: inout PolicyBreaker, at time: Duration) throws -> Duration? {
        var pause: Duration?
        for _ in 0..<PolicyBreaker.failureCountMax {
            #expect(pause == nil && !breaker.isOpen)
            pause = breaker.failed(try permit(&breaker, at: time), now: start + time, random: 1)
        }
        return pause
    }

    @Test("begins after failures in a row")
    func opens() throws {
        var breaker = PolicyBreaker()
        #expect(try Self.open(&breaker, at: .zero) == .seconds(1))
        #expect(breaker.isOpen)
        #expect(breaker.admit(now: Self.start + .milliseconds(400)) == .pause(.milliseconds(600)))
    }

    @Test("does not begin if an answer comes in between")
    func recovers() throws {
        var breaker = PolicyBreaker()
        for number in 1...50 {
            let permit = try Self.permit(&breaker, at: .zero)
            if number.isMultiple(of: PolicyBreaker.failureCountMax) {
                breaker.succeeded(permit)
            } else {
                #expect(breaker.failed(permit, now: Self.start, random: 0) == nil)
            }
        }
        #expect(!breaker.isOpen)
    }

    @Test("ends when one question is answered, which alone is asked")
    func probes() throws {
        var breaker = PolicyBreaker()
        _ = try Self.open(&breaker, at: .zero)
        let probe = try Self.permit(&breaker, at: .seconds(1))
        guard case .pause = breaker.admit(now: Self.start + .seconds(1)) else {
            Issue.record("a second question")
            return
        }
        breaker.succeeded(probe)
        #expect(!breaker.isOpen)
        _ = try Self.permit(&breaker, at: .seconds(1))
        #expect(try Self.open(&breaker, at: .seconds(2)) == .seconds(1))
    }

    @Test("becomes longer with each question that fails, up to 30 s")
    func growth() throws {
        var breaker = PolicyBreaker()
        var time = Duration.zero
        var pause = try #require(try Self.open(&breaker, at: time))
        for seconds in [2, 4, 8, 16, 30, 30] {
            time += pause
            let probe = try Self.permit(&breaker, at: time)
            pause = try #require(breaker.failed(probe, now: Self.start + time, random: 1))
            #expect(pause == .seconds(seconds))
        }
    }

    @Test("is not ended by answers to questions from before it")
    func lateAnswers() throws {
        var breaker = PolicyBreaker()
        let early = try Self.permit(&breaker, at: .zero)
        _ = try Self.open(&breaker, at: .zero)
        breaker.succeeded(early)
        #expect(breaker.isOpen)
        #expect(breaker.failed(early, now: Self.start, random: 1) == nil)
        let probe = try Self.permit(&breaker, at: .seconds(2))
        breaker.succeeded(early)
        #expect(breaker.isOpen)
        breaker.succeeded(probe)
        #expect(!breaker.isOpen)
    }
}
