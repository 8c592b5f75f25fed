// The listener's decisions, without I/O and with a clock moved by hand.

import Basics
import Testing

@testable import Postgres

@Suite("The listener's state", .timeLimit(.minutes(1)))
struct ListenerDecisions {
    let start = ContinuousClock.now
    var state: ListenerState

    init() { state = ListenerState(now: start) }

    mutating func next(_ offset: Duration = .zero) -> ListenerState.Action {
        state.next(now: start + offset, random: 0)
    }

    mutating func goLive() {
        #expect(next() == .connect)
        #expect(next() == .listen)
        state.listening(now: start)
        #expect(next() == .probe("1"))
        state.answered("1", now: start)
        #expect(next() == .emit(.connected))
    }

    @Test("is connected only when a probe came back")
    mutating func provesListening() {
        #expect(next() == .connect)
        #expect(next() == .listen)
        state.listening(now: start)
        #expect(next() == .probe("1"))
        #expect(!state.isWanted())
        #expect(next() == .wait(until: start + .seconds(5)))
        state.answered("another's", now: start)
        #expect(next() == .wait(until: start + .seconds(5)))
        state.answered("1", now: start)
        #expect(next() == .emit(.connected))
        #expect(state.isWanted())
        #expect(next() == .wait(until: start + .seconds(10)))
    }

    @Test("reports a pooler that swallows LISTEN when the first probe does not arrive, and retries")
    mutating func detectsPooler() {
        _ = next()
        _ = next()
        state.listening(now: start)
        _ = next()
        #expect(next(.seconds(5)) == .close(reason: ListenerState.swallowed))
        #expect(next(.seconds(5)) == .wait(until: start + .seconds(5) + .milliseconds(50)))
        #expect(next(.seconds(6)) == .connect)
    }

    @Test("sends a heartbeat every ten seconds, and reconnects when no answer comes in five")
    mutating func heartbeats() {
        goLive()
        #expect(next(.seconds(10)) == .probe("2"))
        state.answered("2", now: start + .seconds(10))
        #expect(next(.seconds(10)) == .wait(until: start + .seconds(20)))
        #expect(next(.seconds(20)) == .probe("3"))
        #expect(next(.seconds(24)) == .wait(until: start + .seconds(25)))
        #expect(next(.seconds(25)) == .close(reason: ListenerState.silent))
        #expect(next(.seconds(25)) == .emit(.disconnected(reason: ListenerState.silent)))
        #expect(!state.isWanted())
    }

    @Test("reports connected again after each loss, and disconnected once per loss")
    mutating func reconnects() {
        goLive()
        state.lost("gone", now: start, random: 0)
        #expect(next() == .close(reason: "gone"))
        #expect(next() == .emit(.disconnected(reason: "gone")))
        #expect(next(.seconds(1)) == .connect)
        state.lost("connection refused", now: start + .seconds(1), random: 0)
        #expect(next(.seconds(1)) == .close(reason: "connection refused"))
        #expect(next(.seconds(2)) == .connect, "no second disconnected")
        #expect(next(.seconds(2)) == .listen)
        state.listening(now: start + .seconds(2))
        #expect(next(.seconds(2)) == .probe("2"))
        state.answered("2", now: start + .seconds(2))
        #expect(next(.seconds(2)) == .emit(.connected))
    }

    @Test("waits longer from attempt to attempt, jitter after the cap")
    func backsOff() {
        var backoff = Backoff()
        let low = (0..<8).map { _ in backoff.next(random: 0) / .milliseconds(1) }
        #expect(low == [50, 100, 200, 400, 800, 1000, 1000, 1000])
        #expect(backoff.next(random: 0.5) == .milliseconds(1500), "spread at the cap, too")
        backoff.reset()
        #expect(backoff.next(random: 0) == .milliseconds(50))
    }
}
