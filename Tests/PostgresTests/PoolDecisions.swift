// The pool's decisions, without I/O and with a clock moved by hand.

import Testing

@testable import Postgres

@Suite("The pool", .timeLimit(.minutes(1)))
struct PoolDecisions {
    var pool = PoolState<String>(limits: PoolState.Limits(connectionCountMax: 2))
    let start = ContinuousClock.now
    var ids: [String: RequestID] = [:]

    mutating func submit(_ works: String..., at now: Instant? = nil, by deadline: Instant? = nil) -> [PostgresError?] {
        works.map { work in
            let id = RequestID(ids.count + 1)
            ids[work] = id
            return pool.submit(id, work, by: deadline, now: now ?? start)
        }
    }

    /// Actions as short texts, such as "send a on 1".
    mutating func step(at now: Instant? = nil) -> [String] {
        var actions: [PoolState<String>.Action] = []
        pool.step(now: now ?? start, &actions)
        return actions.map { action in
            switch action {
            case .connect(let id): "connect \(id)"
            case .send(_, let work, let id): "send \(work) on \(id)"
            case .fail(let work, let error): "fail \(work): \(error)"
            case .close(let id): "close \(id)"
            case .stop: "stop"
            }
        }
    }

    /// Brings connection 1 up with nothing to do.
    mutating func connectFirst() {
        _ = submit("first")
        #expect(step() == ["connect 1"])
        #expect(pool.connected(1, now: start) == true)
        #expect(step() == ["send first on 1"])
        #expect(pool.finished(1, now: start) == "first")
    }

    @Test("connects at the first statement and not before")
    mutating func connectsAtNeed() {
        #expect(step() == [])
        #expect(pool.nextDeadline() == nil)
        connectFirst()
        #expect(step() == [])
    }

    @Test("uses an idle connection rather than open another, and opens one when all are busy")
    mutating func opensWhenBusy() {
        connectFirst()
        _ = submit("a")
        #expect(step() == ["send a on 1"])
        _ = submit("b")
        #expect(step() == ["send b on 1", "connect 2"])
        #expect(pool.connected(2, now: start) == true)
        _ = submit("c", "d", "e")
        #expect(step() == ["send c on 2", "send d on 2", "send e on 1"], "the least loaded, and no third connection")
    }

    @Test("returns each connection's results in the order sent")
    mutating func keepsOrder() {
        connectFirst()
        _ = submit("a", "b", "c")
        _ = step()
        #expect([pool.finished(1, now: start), pool.finished(1, now: start)] == ["a", "b"])
        #expect(pool.statistics.inFlightCount == 1)
    }

    @Test("avoids a connection that is silent under a statement while another has room")
    mutating func avoidsSlow() {
        connectFirst()
        _ = submit("slow", "x")
        _ = step()
        _ = pool.connected(2, now: start)
        _ = submit("a", "b", "c", at: start + .milliseconds(30))
        #expect(step(at: start + .milliseconds(30)) == ["send a on 2", "send b on 2", "send c on 2"])
    }

    @Test("sends nothing to a connection whose socket is full")
    mutating func respectsBlocked() {
        connectFirst()
        pool.setBlocked(1, true)
        _ = submit("a")
        #expect(step() == ["connect 2"])
        pool.setBlocked(1, false)
        #expect(step() == ["send a on 1"])
    }

    @Test("lets statements wait in order past the limit in flight, and refuses them past the limit waiting")
    mutating func boundsBoth() {
        pool = PoolState(limits: .init(connectionCountMax: 1, inFlightPerConnectionMax: 2, waitingCountMax: 2))
        connectFirst()
        _ = submit("a", "b")
        _ = step()
        #expect(submit("c", "d", "e") == [nil, nil, .poolFull])
        #expect(step() == [])
        #expect(pool.finished(1, now: start) == "a")
        #expect(step() == ["send c on 1"])
        #expect(pool.statistics.waitingCount == 1)
    }

    @Test("fails statements that waited too long, each at its own deadline")
    mutating func failsLate() {
        pool = PoolState(limits: .init(connectionCountMax: 1, inFlightPerConnectionMax: 1))
        connectFirst()
        _ = submit("a", "b")
        _ = step()
        _ = submit("c", at: start + .seconds(1))
        #expect(pool.nextDeadline() == start + .seconds(5))
        pool.progressed(1, now: start + .seconds(5))
        #expect(step(at: start + .seconds(5)) == ["fail b: no database connection had room in time"])
        #expect(pool.nextDeadline() == start + .seconds(6))
        #expect(step(at: start + .seconds(6)) == ["fail c: no database connection had room in time"])
        #expect(pool.statistics.totals.waitTimeoutCount == 2)
    }

    @Test("fails a statement with an earlier deadline at that deadline, and none later than the pool's maximum")
    mutating func failsHurried() throws {
        pool = PoolState(limits: .init(connectionCountMax: 1, inFlightPerConnectionMax: 1))
        connectFirst()
        _ = submit("a")
        _ = step()
        _ = submit("b")
        for (work, seconds) in [("c", 3), ("d", 1), ("e", 9), ("f", 2), ("g", 4)] {
            _ = submit(work, by: start + .seconds(seconds))
        }
        func failure(_ work: String) -> String { "fail \(work): no database connection had room in time" }
        #expect(pool.nextDeadline() == start + .seconds(1))
        #expect(step(at: start + .seconds(1)) == [failure("d")])
        #expect(pool.cancel(try #require(ids["f"])) == "f")
        #expect(step(at: start + .seconds(2)) == [])
        #expect(pool.nextDeadline() == start + .seconds(3))
        // One statement is removed, and its deadline with it.
        #expect(pool.finished(1, now: start + .seconds(2)) == "a")
        #expect(step(at: start + .seconds(2)) == ["send b on 1"])
        #expect(pool.finished(1, now: start + .seconds(2)) == "b")
        #expect(step(at: start + .seconds(2)) == ["send c on 1"])
        #expect(pool.nextDeadline() == start + .seconds(4))
        #expect(step(at: start + .seconds(4)) == [failure("g")])
        #expect(pool.nextDeadline() == start + .seconds(5))
        #expect(step(at: start + .seconds(5)) == [failure("e")])
        #expect(pool.statistics.waitingCount == 0)
    }

    @Test("sends rather than fails a statement whose time is up when there is room")
    mutating func prefersSending() {
        connectFirst()
        _ = submit("late")
        #expect(step(at: start + .seconds(6)) == ["send late on 1"])
    }

    @Test("removes a cancelled statement from the queue, and drops the result of one that was sent")
    mutating func cancels() throws {
        connectFirst()
        _ = submit("sent", "next")
        _ = step()
        _ = submit("waiting")
        #expect(pool.cancel(try #require(ids["waiting"])) == "waiting")
        #expect(pool.cancel(try #require(ids["sent"])) == "sent")
        #expect(pool.cancel(try #require(ids["sent"])) == nil, "its caller is told once")
        #expect(pool.statistics.waitingCount == 0)
        #expect(step() == [])
        #expect(pool.finished(1, now: start) == nil)
        #expect(pool.finished(1, now: start) == "next")
        #expect(pool.entries.isEmpty)
    }

    @Test("keeps no trace of ten thousand cancelled statements while the database is down")
    mutating func sweepsCancelled() {
        for id in 1...10_000 {
            _ = pool.submit(RequestID(id), "\(id)", now: start)
            _ = pool.cancel(RequestID(id))
        }
        #expect(pool.waiting.count < 100)
        #expect(pool.entries.isEmpty)
    }

    @Test("sends a statement that did not run again, before all others, a limited number of times")
    mutating func retries() {
        connectFirst()
        pool.setBlocked(1, true)
        _ = submit("a")
        pool.setBlocked(1, false)
        for _ in 1..<pool.limits.sendCountMax {
            #expect(step() == ["send a on 1"])
            #expect(pool.retry(1, now: start) == true)
        }
        _ = submit("b")
        #expect(step().first == "send a on 1")
        #expect(pool.retry(1, now: start) == false)
        #expect(pool.finished(1, now: start) == "a")
    }
}
