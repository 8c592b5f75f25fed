// When the policy is asked although it fails: the state machine alone.
import API
import Testing

@Suite("Pausing the policy", .timeLimit(.minutes(1)))
struct PausingThePolicy {
    private static let start = ContinuousClock.now

    private struct Unexpected: Error { let description: String }

    private static func permit(_ breaker: inout PolicyBreaker, at time: Duration) throws -> PolicyBreaker.Permit {
        guard case .ask(let permit) = breaker.admit(now: start + time) else {
            throw Unexpected(description: "a pause at \(time)")
        }
        return permit
    }

    /// Fails as often as it takes to begin a pause, and returns it.
    private static func open(_ breaker: inout PolicyBreaker, at time: Duration) throws -> Duration {
        for number in 1...PolicyBreaker.failureCountMax {
            #expect(!breaker.isOpen)
            if let pause = breaker.failed(try permit(&breaker, at: time), now: start + time, random: 1) {
                #expect(number == PolicyBreaker.failureCountMax && breaker.isOpen)
                return pause
            }
        }
        throw Unexpected(description: "no pause")
    }

    @Test("begins after failures in a row")
    func opens() throws {
        var breaker = PolicyBreaker()
        let pause = try Self.open(&breaker, at: .zero)
        #expect(pause == .seconds(1))
        let admission = breaker.admit(now: Self.start + .milliseconds(400))
        #expect(admission == .pause(.milliseconds(600)))
    }

    @Test("does not begin if an answer comes in between")
    func recovers() throws {
        var breaker = PolicyBreaker()
        for number in 1...50 {
            let permit = try Self.permit(&breaker, at: .zero)
            if number.isMultiple(of: PolicyBreaker.failureCountMax) {
                breaker.succeeded(permit)
            } else {
                let pause = breaker.failed(permit, now: Self.start, random: 0)
                #expect(pause == nil)
            }
        }
        #expect(!breaker.isOpen)
    }

    @Test("ends when one question is answered, which alone is asked")
    func probes() throws {
        var breaker = PolicyBreaker()
        _ = try Self.open(&breaker, at: .zero)
        let probe = try Self.permit(&breaker, at: .seconds(1))
        #expect(throws: Unexpected.self) {
            var copy = breaker
            _ = try Self.permit(&copy, at: .seconds(1))
        }
        breaker.succeeded(probe)
        #expect(!breaker.isOpen)
        _ = try Self.permit(&breaker, at: .seconds(1))
        let pause = try Self.open(&breaker, at: .seconds(2))
        #expect(pause == .seconds(1))
    }

    @Test("becomes longer with each question that fails, up to 30 s")
    func growth() throws {
        var breaker = PolicyBreaker()
        var time = Duration.zero
        var pause: Duration? = try Self.open(&breaker, at: time)
        for seconds in [2, 4, 8, 16, 30, 30] {
            time += pause ?? .zero
            let probe = try Self.permit(&breaker, at: time)
            pause = breaker.failed(probe, now: Self.start + time, random: 1)
            #expect(pause == .seconds(seconds))
        }
    }

    @Test("is not ended by answers to questions from before it")
    func lateAnswers() throws {
        var breaker = PolicyBreaker()
        let early = try Self.permit(&breaker, at: .zero)
        _ = try Self.open(&breaker, at: .zero)
        breaker.succeeded(early)
        let pause = breaker.failed(early, now: Self.start, random: 1)
        #expect(breaker.isOpen && pause == nil)
        let probe = try Self.permit(&breaker, at: .seconds(2))
        breaker.succeeded(early)
        #expect(breaker.isOpen)
        breaker.succeeded(probe)
        #expect(!breaker.isOpen)
    }
}
