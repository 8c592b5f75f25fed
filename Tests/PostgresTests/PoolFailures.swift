// The pool's decisions about connections that fail, stall and go, and about shutting down.

import Testing

@testable import Postgres

@Suite("The pool in trouble", .timeLimit(.minutes(1)))
struct PoolFailures {
    var base = PoolDecisions()
    var start: Instant { base.start }
    let away = ConnectFailure(reason: "connection refused")

    @Test("fails statements sent on a broken connection, and requeues unsent ones in order")
    mutating func movesUnsent() {
        base.connectFirst()
        _ = base.submit("a", "b", "c", "d")
        _ = base.step()
        let failed = base.pool.lost(1, unsentCount: 2, now: start, random: 0)
        #expect(failed.map(\.0) == ["a", "b"])
        #expect(failed.allSatisfy { $0.1 == .connectionLost(wasSent: true) })
        _ = base.pool.connected(2, now: start)
        #expect(base.step().prefix(2) == ["send c on 2", "send d on 2"])
    }

    @Test("moves a statement a limited number of times")
    mutating func boundsMoves() {
        _ = base.submit("a")
        var failed: [(String, PostgresError)] = []
        var now = start
        for connection in 1...3 as ClosedRange<ConnectionID> {
            #expect(failed.isEmpty)
            #expect(base.step(at: now) == ["connect \(connection)"])
            _ = base.pool.connected(connection, now: now)
            #expect(base.step(at: now) == ["send a on \(connection)"])
            failed = base.pool.lost(connection, unsentCount: 1, now: now, random: 0)
            now += .milliseconds(500)
        }
        #expect(failed.map(\.1) == [.connectionLost(wasSent: false)])
    }

    @Test("drops a moved statement whose caller was cancelled")
    mutating func dropsCancelledUnsent() throws {
        base.connectFirst()
        _ = base.submit("a")
        _ = base.step()
        _ = base.pool.cancel(try #require(base.ids["a"]))
        #expect(base.pool.lost(1, unsentCount: 1, now: start, random: 0).isEmpty)
        #expect(base.pool.entries.isEmpty)
        #expect(base.step() == [])
    }

    @Test("tries again with doubling waits while the database is down, one attempt at a time")
    mutating func backsOff() {
        _ = base.submit("a")
        var now = start
        var waits: [Duration] = []
        for connection in 1...7 as ClosedRange<ConnectionID> {
            #expect(base.step(at: now) == ["connect \(connection)"])
            #expect(base.step(at: now) == [])
            base.pool.connectFailed(connection, away, now: now, random: 0)
            #expect(base.step(at: now) == [])
            guard let next = base.pool.connectNotBefore else { continue }
            waits.append(next - now)
            now = next
        }
        #expect(waits.map { $0 / .milliseconds(1) } == [50, 100, 200, 400, 800, 1000, 1000])
    }

    @Test("wakes up for the next attempt")
    mutating func wakesForAttempt() {
        _ = base.submit("a")
        _ = base.step()
        base.pool.connectFailed(1, away, now: start, random: 0)
        _ = base.step()
        #expect(base.pool.nextDeadline() == start + .milliseconds(50))
    }

    @Test("fails statements that waited too long with the reason why there is no connection")
    mutating func tellsReason() {
        _ = base.submit("a")
        _ = base.step()
        base.pool.connectFailed(1, away, now: start, random: 0)
        #expect(base.step(at: start + .seconds(5)).first == "fail a: database unavailable: connection refused")
    }

    @Test("fails waiting statements at once when the database refuses the client, and new ones until the next attempt")
    mutating func failsRefused() {
        _ = base.submit("a", "b")
        _ = base.step()
        let refusal = ConnectFailure(reason: "password authentication failed", isRefusal: true)
        base.pool.connectFailed(1, refusal, now: start, random: 0)
        let error = PostgresError.unavailable("password authentication failed")
        #expect(base.step() == ["fail a: \(error)", "fail b: \(error)"])
        #expect(base.submit("c") == [error])
        let later = start + .milliseconds(60)
        #expect(base.submit("d", at: later) == [nil])
        #expect(base.step(at: later) == ["connect 2"])
        _ = base.pool.connected(2, now: later)
        #expect(base.step(at: later) == ["send d on 2"])
    }

    @Test("backs off from a server that drops each connection before it did anything")
    mutating func backsOffFromDropper() {
        _ = base.submit("a")
        _ = base.step()
        _ = base.pool.connected(1, now: start)
        _ = base.step()
        _ = base.pool.lost(1, unsentCount: 0, now: start, random: 0)
        _ = base.submit("b")
        #expect(base.step() == [])
        #expect(base.step(at: start + .milliseconds(50)) == ["connect 2"])
    }

    @Test("drops a connection that receives nothing, and no other")
    mutating func closesStalled() {
        base.connectFirst()
        _ = base.submit("a", "b")
        _ = base.step()
        #expect(base.pool.nextDeadline() == start + .seconds(20))
        base.pool.progressed(1, now: start + .seconds(10))
        #expect(base.step(at: start + .seconds(20)) == [])
        let error = PostgresError.connectionLost(wasSent: true)
        #expect(base.step(at: start + .seconds(30)) == ["fail a: \(error)", "fail b: \(error)", "close 1"])
    }

    @Test("leaves a read-only server: statements in flight end there, new ones wait for another")
    mutating func leavesReadOnly() {
        base.connectFirst()
        _ = base.submit("a", "b")
        _ = base.step()
        #expect(base.pool.finished(1, now: start) == "a")
        base.pool.isReadOnly(1, now: start, random: 0)
        _ = base.submit("c")
        #expect(base.step().allSatisfy { !$0.hasPrefix("send") && !$0.hasPrefix("close") })
        #expect(base.pool.finished(1, now: start) == "b")
        // The second report of the same loss has no effect.
        base.pool.isReadOnly(1, now: start, random: 0)
        #expect(base.step().contains("close 1"))
    }

    @Test("shuts down when statements in flight have ended; waiting ones fail and no new ones are accepted")
    mutating func drains() {
        base.pool = PoolState(limits: .init(connectionCountMax: 1, inFlightPerConnectionMax: 1))
        base.connectFirst()
        _ = base.submit("a", "b")
        _ = base.step()
        base.pool.beginShutdown(now: start, drainMax: .seconds(5))
        #expect(base.submit("c") == [.closed])
        #expect(base.step() == ["fail b: \(PostgresError.closed)"])
        #expect(base.pool.finished(1, now: start) == "a")
        #expect(base.step() == ["stop"])
        #expect(base.step() == [])
    }

    @Test("shuts down at the latest when the time for it is up")
    mutating func drainsInTime() {
        base.connectFirst()
        _ = base.submit("a")
        _ = base.step()
        base.pool.beginShutdown(now: start, drainMax: .seconds(5))
        #expect(base.step() == [])
        #expect(base.pool.nextDeadline() == start + .seconds(5))
        let error = PostgresError.connectionLost(wasSent: true)
        #expect(base.step(at: start + .seconds(5)) == ["fail a: \(error)", "stop"])
    }

    @Test("works until the end that was set, then fails what waits and what is in flight without an answer, and closes")
    mutating func endsInTime() {
        base.pool = PoolState(limits: .init(connectionCountMax: 1, inFlightPerConnectionMax: 1))
        base.connectFirst()
        base.pool.end(by: start + .seconds(3))
        base.pool.end(by: start + .seconds(5))
        #expect(base.pool.nextDeadline() == start + .seconds(3), "the earlier end")
        // Its answer never arrives. The waiting one might stay for 5 s, and this one for 20 s.
        #expect(base.submit("half-open", "waiting", at: start + .seconds(2)) == [nil, nil])
        #expect(base.step(at: start + .seconds(2)) == ["send half-open on 1"])
        #expect(base.pool.nextDeadline() == start + .seconds(3))
        let error = PostgresError.connectionLost(wasSent: true)
        #expect(
            base.step(at: start + .seconds(3)) == [
                "fail waiting: \(PostgresError.closed)", "fail half-open: \(error)", "stop",
            ])
        #expect(base.submit("late", at: start + .seconds(3)) == [.closed])
    }

    @Test("ends in time although it connects, waits for the next attempt, or keeps a statement without a caller")
    mutating func endsWhateverItDoes() throws {
        let (end, closed) = (start + .seconds(3), "fail a: \(PostgresError.closed)")
        _ = base.submit("a")
        #expect(base.step() == ["connect 1"])
        var connecting = base
        connecting.pool.end(by: end)
        #expect(connecting.step(at: end) == [closed, "stop"])
        #expect(connecting.pool.connected(1, now: end) == false)

        var backingOff = base
        backingOff.pool.connectFailed(1, ConnectFailure(reason: "down"), now: start, random: 0)
        backingOff.pool.end(by: end)
        #expect(backingOff.step(at: end) == [closed, "stop"])

        _ = base.pool.connected(1, now: start)
        #expect(base.step() == ["send a on 1"])
        #expect(base.pool.cancel(try #require(base.ids["a"])) == "a")
        // A shutdown waits for it, but no longer than until the end that was set before.
        base.pool.end(by: end)
        base.pool.beginShutdown(now: start, drainMax: .seconds(5))
        #expect(base.step() == [])
        #expect(base.step(at: end) == ["stop"])
    }

    @Test("closes a connection that opens during the shutdown")
    mutating func refusesLateConnection() {
        _ = base.submit("a")
        _ = base.step()
        base.pool.beginShutdown(now: start, drainMax: .seconds(5))
        #expect(base.step() == ["fail a: \(PostgresError.closed)", "stop"])
        #expect(base.pool.connected(1, now: start) == false)
    }
}
