// How fast alerts are sent, and when they wait. The test sets the clock.
import Basics
import Push
import TestSupport
import Testing

@Suite("Pacing alerts", .timeLimit(.minutes(1)))
struct PacingAlerts {
    private let start = ContinuousClock.now
    private func at(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

    /// Sends one alert, which fails.
    private func fail(_ pace: inout PushPace, _ origin: String, at seconds: Double) -> PushPace.Admission {
        let admission = pace.admit(origin, now: at(seconds))
        if admission == .go { pace.ended(origin, isAlive: false, now: at(seconds)) }
        return admission
    }

    @Test("limits the alerts under way to one service")
    func bounds() {
        var pace = PushPace(originInFlightMax: 2)
        #expect(pace.admit("a", now: start) == .go && pace.admit("a", now: start) == .go)
        #expect(pace.admit("a", now: start) == .wait(.seconds(1)) && pace.admit("b", now: start) == .go)
        pace.ended("a", isAlive: true, now: start)
        #expect(pace.admit("a", now: start) == .go)
    }

    @Test("pauses a service that keeps failing, each time for longer, and not the others")
    func pauses() {
        var pace = PushPace(originInFlightMax: 100)
        for _ in 0..<8 { #expect(fail(&pace, "a", at: 0) == .go) }
        #expect(fail(&pace, "a", at: 0) == .wait(.seconds(1)))
        #expect(pace.admit("b", now: start) == .go)
        #expect(fail(&pace, "a", at: 1) == .go)
        #expect(fail(&pace, "a", at: 1) == .wait(.seconds(2)))
        var now = 3.0
        var waits: [Double] = []
        for _ in 0..<8 {
            #expect(fail(&pace, "a", at: now) == .go)
            guard case .wait(let time) = fail(&pace, "a", at: now) else { break }
            waits.append(time / .seconds(1))
            now += time / .seconds(1)
        }
        #expect(waits == [4, 8, 16, 32, 60, 60, 60, 60])
    }

    @Test("tests with one alert whether a service is back")
    func probes() {
        var pace = PushPace(originInFlightMax: 100)
        for _ in 0..<8 { _ = fail(&pace, "a", at: 0) }
        #expect(pace.admit("a", now: at(2)) == .go && pace.admit("a", now: at(2)) == .wait(.seconds(1)))
        pace.ended("a", isAlive: true, now: at(2))
        #expect(pace.admit("a", now: at(2)) == .go && pace.admit("a", now: at(2)) == .go)
    }

    @Test("counts failures of alerts that were under way together as one")
    func together() {
        var pace = PushPace(originInFlightMax: 100)
        for _ in 0..<50 { #expect(pace.admit("a", now: start) == .go) }
        for _ in 0..<50 { pace.ended("a", isAlive: false, now: start) }
        #expect(pace.admit("a", now: start) == .wait(.seconds(1)))
        #expect(fail(&pace, "a", at: 1) == .go && pace.admit("a", now: at(1)) == .wait(.seconds(2)))
    }

    @Test("sends nothing after a halt, then one alert, and all again once the service accepts it")
    func halts() {
        var pace = Pace(.alerts(inFlightMax: 100))
        func room(_ inFlightCount: Int, _ seconds: Double) -> Int {
            pace.room(inFlightCount: inFlightCount, now: at(seconds))
        }
        #expect(room(40, 0) == 60)
        pace.failed(now: start)
        #expect(pace.isSlowed && room(0, 59) == 0 && room(0, 60) == 1 && room(1, 60) == 0)
        pace.failed(now: at(60))
        #expect(room(0, 119) == 0 && room(0, 120) == 1)
        // One that was sent before may show that the service works.
        pace.accepted(now: at(61))
        #expect(!pace.isSlowed && room(0, 61) == 100)
    }

    @Test("remembers ten thousand services at most")
    func memory() {
        var pace = PushPace(originInFlightMax: 1)
        for number in 0..<10_000 { for _ in 0..<8 { _ = fail(&pace, "\(number)", at: 0) } }
        #expect(pace.admit("0", now: start) == .wait(.seconds(1)))
        // Their pauses are over, so forgetting them loses nothing.
        #expect(fail(&pace, "new", at: 2) == .go)
        #expect(pace.admit("0", now: start) == .go)
    }

    @Test("waits longer after each try, never less than the service asked for, and at random times")
    func backoff() {
        func wait(_ attempt: Int, _ random: Double, asked: Duration? = nil) -> Duration {
            Retries.alerts.wait(afterTry: attempt, asked: asked, random: random) ?? .zero
        }
        #expect((1...11).map { wait($0, 0) / .seconds(1) } == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
        #expect(wait(3, 1) == .seconds(8) && wait(1_000_000, 1) == .seconds(600))
        #expect(wait(1, 0, asked: .seconds(20)) == .seconds(20) && wait(1, 1, asked: .seconds(20)) == .seconds(21))
        #expect(wait(5, 0, asked: .seconds(2)) == .seconds(16))
    }
}
