// Which server answers a read, and how often both are asked.
import TestSupport
import Testing

@testable import Store

@Suite("Deciding where to read", .timeLimit(.minutes(1)))
struct DecidingWhereToRead {
    private typealias Place = ReplicaState.Place

    /// The decisions with a clock, and all actions so far.
    private struct Reader {
        var now = ContinuousClock.now
        var state: ReplicaState
        var places: [UInt64: Place] = [:]
        var failures: Set<UInt64> = []
        var changes: [PrimaryReason?] = []
        var primaryQuestions = 0
        var replicaQuestions: [ReplicaBound] = []

        init() { state = ReplicaState(now: now) }

        /// A reader that uses the replica, which has replayed up to `lsn`.
        static func following(lsn: Int64 = 0) -> Reader {
            var reader = Reader()
            reader.tick()
            reader.primary(lsn)
            reader.replica(lsn)
            #expect(reader.changes == [nil])
            (reader.primaryQuestions, reader.replicaQuestions, reader.changes) = (0, [], [])
            return reader
        }

        private mutating func act(
            _ body: (inout ReplicaState, ContinuousClock.Instant, inout [ReplicaState.Action]) -> Void
        ) {
            var actions: [ReplicaState.Action] = []
            body(&state, now, &actions)
            for action in actions {
                switch action {
                case .askPrimary: primaryQuestions += 1
                case .askReplica(let bound): replicaQuestions.append(bound)
                case .settle(let id, let place):
                    #expect(places.updateValue(place, forKey: id) == nil && !failures.contains(id))
                case .fail(let id, _): #expect(failures.insert(id).inserted && places[id] == nil)
                case .changed(let reason): changes.append(reason)
                }
            }
        }

        mutating func arrive() -> UInt64 {
            var id: UInt64 = 0
            act { id = $0.arrive(&$2) }
            return id
        }

        mutating func primary(_ bound: ReplicaBound) {
            act { $0.primaryAnswered(.success(bound), now: $1, random: 0, &$2) }
        }
        mutating func primary(_ lsn: Int64) { primary(ReplicaBound(lsn: lsn)) }
        mutating func primaryFails() {
            act { $0.primaryAnswered(.failure(TimedOut(description: "")), now: $1, random: 0, &$2) }
        }
        mutating func replica(_ lsn: Int64, isOfAnotherHistory: Bool = false) {
            let report = ReplicaReport(replayed: lsn, isOfAnotherHistory: isOfAnotherHistory)
            act { $0.replicaAnswered(.success(report), now: $1, random: 0, &$2) }
        }
        mutating func replicaFails() {
            act { $0.replicaAnswered(.failure(TimedOut(description: "")), now: $1, random: 0, &$2) }
        }
        mutating func failed(_ reason: PrimaryReason) { act { $0.failed(reason, now: $1, random: 0, &$2) } }
        mutating func tick(after time: Duration = .zero) {
            now += time
            act { $0.tick(now: $1, random: 0, &$2) }
        }
    }

    @Test("a read that arrives while the primary is asked gets a bound from the next question")
    func laterQuestion() {
        var reader = Reader.following()
        let first = reader.arrive()
        let (second, third) = (reader.arrive(), reader.arrive())
        #expect(reader.primaryQuestions == 1)
        reader.primary(5)
        // One more question, for both.
        #expect(reader.primaryQuestions == 2)
        reader.primary(9)
        reader.replica(9)
        #expect(reader.places[first] == .replica(ReplicaBound(lsn: 5)))
        #expect(reader.places[second] == .replica(ReplicaBound(lsn: 9)))
        #expect(reader.places[third] == .replica(ReplicaBound(lsn: 9)))
        #expect(reader.primaryQuestions == 2 && reader.replicaQuestions.map(\.lsn) == [5])
    }

    @Test("an idle database costs no question to the replica")
    func idle() {
        var reader = Reader.following(lsn: 7)
        let read = reader.arrive()
        reader.primary(7)
        #expect(reader.places[read] == .replica(ReplicaBound(lsn: 7)) && reader.replicaQuestions.isEmpty)
    }

    @Test("a read waits for the replay, and the replica is asked every 2 ms")
    func waits() {
        var reader = Reader.following(lsn: 1)
        let read = reader.arrive()
        reader.primary(4)
        for lsn in [1, 2, 3] as [Int64] {
            reader.replica(lsn)
            #expect(reader.places[read] == nil)
            reader.tick(after: .milliseconds(1))
            reader.tick(after: .milliseconds(1))
        }
        reader.replica(4)
        #expect(reader.places[read] == .replica(ReplicaBound(lsn: 4)) && reader.replicaQuestions.count == 4)
    }

    @Test("a replica that lags for 200 ms is left: those who wait and the next ones are read on the primary at once")
    func lags() {
        var reader = Reader.following(lsn: 1)
        let first = reader.arrive()
        reader.primary(4)
        reader.replica(1)
        reader.tick(after: .milliseconds(150))
        let second = reader.arrive()
        reader.primary(5)
        #expect(reader.places.isEmpty)
        reader.replica(1)
        reader.tick(after: .milliseconds(50))
        #expect(reader.places == [first: .primary(.lagging), second: .primary(.lagging)])
        #expect(reader.changes == [.lagging])
        let (asked, third) = (reader.primaryQuestions, reader.arrive())
        #expect(reader.places[third] == .primary(.lagging) && reader.primaryQuestions == asked)
    }

    @Test("a probe finds out when the replica has caught up, and no read waits for it")
    func probe() {
        var reader = Reader.following(lsn: 1)
        _ = reader.arrive()
        reader.primary(4)
        reader.replicaFails()
        #expect(reader.changes == [.away])
        for _ in 0..<8 {
            let asked = reader.primaryQuestions
            reader.tick(after: .seconds(2))
            #expect(reader.primaryQuestions == asked + 1)
            reader.primary(4)
            reader.tick(after: .milliseconds(1))
            reader.replica(3)
            let read = reader.arrive()
            #expect(reader.places[read] == .primary(reader.changes.last.flatMap { $0 } ?? .busy))
            reader.tick(after: .milliseconds(200))
            #expect(reader.changes.last == .some(.lagging))
        }
        reader.tick(after: .seconds(2))
        reader.primary(6)
        reader.replica(6)
        #expect(reader.changes.last == .some(nil))
        let read = reader.arrive()
        reader.primary(6)
        #expect(reader.places[read] == .replica(ReplicaBound(lsn: 6)))
    }

    @Test("a replica that does not answer at all counts as away, and a late answer changes nothing")
    func silent() {
        var reader = Reader.following(lsn: 1)
        let read = reader.arrive()
        reader.primary(4)
        reader.tick(after: .milliseconds(200))
        #expect(reader.places[read] == .primary(.away))
        reader.replica(9)
        let next = reader.arrive()
        #expect(reader.places[next] == .primary(.away))
    }

    @Test("a server of another history is left at once, whatever it has replayed")
    func otherHistory() {
        var reader = Reader.following(lsn: 1)
        let read = reader.arrive()
        reader.primary(4)
        reader.replica(99, isOfAnotherHistory: true)
        #expect(reader.places[read] == .primary(.notAReplica) && reader.changes == [.notAReplica])
    }

    @Test("without a write since the primary's start, the primary answers")
    func restarted() {
        var reader = Reader.following(lsn: 9)
        let read = reader.arrive()
        reader.primary(ReplicaBound(lsn: 4, isOfThisRun: false))
        #expect(reader.places[read] == .primary(.restarted))
    }

    @Test("without an answer of the primary, reads fail, and the next ones ask again")
    func primaryAway() {
        var reader = Reader.following(lsn: 9)
        let (first, second) = (reader.arrive(), reader.arrive())
        reader.primaryFails()
        #expect(reader.failures == [first] && reader.primaryQuestions == 2)
        reader.primary(3)
        #expect(reader.places[second] == .replica(ReplicaBound(lsn: 3)))
    }

    @Test("a check that failed ends the use; a conflict does not")
    func failedReads() {
        var reader = Reader.following(lsn: 9)
        reader.failed(.conflict)
        reader.failed(.busy)
        #expect(reader.changes.isEmpty)
        reader.failed(.notAReplica)
        reader.failed(.lagging)
        let read = reader.arrive()
        #expect(reader.changes == [.notAReplica] && reader.places[read] == .primary(.notAReplica))
    }

    @Test("after the end the primary answers all reads, and no deadline is left")
    func end() {
        var reader = Reader.following(lsn: 1)
        let (first, second) = (reader.arrive(), reader.arrive())
        reader.primary(4)
        var actions: [ReplicaState.Action] = []
        reader.state.close(now: reader.now, &actions)
        #expect(actions.count == 1)
        reader.primary(4)
        #expect(reader.places[second] == .primary(.away) && reader.places[first] == nil)
        #expect(reader.state.nextDeadline(now: reader.now) == nil)
        reader.tick(after: .seconds(5))
        let third = reader.arrive()
        #expect(reader.places[third] == .primary(.away))
    }

    @Test(
        "in random histories no read gets a place before the WAL of its arrival, each gets one in time",
        arguments: Seed.fresh("random replicas", count: 30))
    func randomHistories(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var reader = Reader()
        reader.tick()
        // The WAL's end, what is replayed, and what the answers under way will say.
        var (written, replayed) = (Int64(0), Int64(0))
        var arrivals: [UInt64: (lsn: Int64, at: ContinuousClock.Instant)] = [:]
        var (primaryAnswers, replicaAnswers) = (0, 0)
        func answer() {
            if reader.primaryQuestions > primaryAnswers {
                primaryAnswers += 1
                // The question is answered after it was asked, so with the WAL of now.
                if random.next() % 20 == 0 { reader.primaryFails() } else { reader.primary(written) }
            }
        }
        for _ in 0..<2_000 {
            switch random.next() % 9 {
            case 0, 1:
                let before = written
                let id = reader.arrive()
                arrivals[id] = (before, reader.now)
            case 2, 3: written += Int64(random.next() % 3)
            case 4: replayed = min(written, replayed + Int64(random.next() % 4))
            case 5: answer()
            case 6 where reader.replicaQuestions.count > replicaAnswers:
                replicaAnswers += 1
                if random.next() % 20 == 0 { reader.replicaFails() } else { reader.replica(replayed) }
            case 7: reader.tick(after: .milliseconds(Int(random.next() % 10)))
            default: reader.now += .milliseconds(Int(random.next() % 2))
            }
            #expect(
                reader.primaryQuestions - primaryAnswers <= 1 && reader.replicaQuestions.count - replicaAnswers <= 1)
        }
        for _ in 0..<3 {
            answer()
            reader.tick(after: .milliseconds(200))
        }
        for (id, arrival) in arrivals {
            if case .replica(let bound) = reader.places[id] { #expect(bound.lsn >= arrival.lsn) }
            #expect(reader.places[id] != nil || reader.failures.contains(id))
        }
    }
}
