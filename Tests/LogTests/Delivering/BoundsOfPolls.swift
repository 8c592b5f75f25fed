// How many polls of a session and of an account may wait: the oldest makes room, and nothing else changes.
import Domain
import Store
import TestSupport
import Testing

@testable import Log

@Suite("The bounds of waiting polls", .timeLimit(.minutes(1)))
struct BoundsOfPolls {
    private let ann = UserID.make()
    private let thread = ThreadID.make()
    private let phone = SessionID.make()
    private let desk = SessionID.make()

    private func cursor(_ position: Int64) -> Cursor { Cursor(epoch: 1, position: Position(position)) }

    /// Ann's mailbox at position 10.
    private func openState(session: Int = 3, account: Int = 5, deviceTicks: Int = 4) -> HubState {
        var limits = HubLimits()
        limits.sessionPollCountMax = session
        limits.accountPollCountMax = account
        limits.deviceWaitTickCount = deviceTicks
        var state = HubState(start: cursor(10), limits: limits)
        _ = state.open(ann, threads: [thread], at: cursor(10))
        return state
    }

    /// Parks a poll and returns the one that made room for it, if one did.
    private func park(
        _ state: inout HubState, _ session: SessionID, _ number: Int, after: Int64 = 10, acks: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Wake? {
        let decision = state.poll(
            Identity(user: ann, session: session), from: cursor(after), limit: 100, waitTickCount: 100,
            waiter: NumberedWaiter(number), acks: acks)
        guard case .parked(_, let displaced) = decision else {
            Issue.record("not parked", sourceLocation: sourceLocation)
            return nil
        }
        return displaced
    }

    @Test("one poll too many for a session ends its oldest, without events and with the log's head")
    func session() {
        var state = openState()
        for number in 1...3 { #expect(park(&state, phone, number) == nil) }
        #expect(park(&state, desk, 10) == nil)
        let displaced = park(&state, phone, 4)
        #expect(displaced?.numbers == [1])
        guard case .displaced(let upTo) = displaced?.answer else { return #expect(Bool(false), "\(displaced as Any)") }
        #expect(upTo == cursor(10))
        #expect(park(&state, phone, 5)?.numbers == [2])
        #expect(state.counters.parked == 4 && state.counters.displaced == 2)
    }

    @Test("one poll too many for an account ends its oldest, of any session")
    func account() {
        var state = openState()
        for number in 1...2 { #expect(park(&state, desk, number) == nil) }
        for number in 3...5 { #expect(park(&state, phone, number) == nil) }
        #expect(park(&state, SessionID.make(), 6)?.numbers == [1])
        // The oldest of the session itself, if that has reached its bound.
        #expect(park(&state, phone, 7)?.numbers == [3])
        #expect(park(&state, SessionID.make(), 8)?.numbers == [2])
        #expect(state.counters.parked == 5)
    }

    @Test("streams and polls count together")
    func streams() {
        var state = openState()
        #expect(park(&state, phone, 1, acks: false) == nil)
        #expect(park(&state, phone, 2) == nil)
        #expect(park(&state, phone, 3, acks: false) == nil)
        #expect(park(&state, phone, 4)?.numbers == [1])
        #expect(park(&state, phone, 5, acks: false)?.numbers == [2])
    }

    @Test("a poll that has ended does not count, however it ended")
    func ended() {
        var state = openState()
        for number in 1...3 { #expect(park(&state, phone, number) == nil) }
        let event = Event(
            StoredEvent(position: Position(11), type: "message.created", thread: thread, body: JSONText(utf8: [120])))
        #expect(state.apply([event]).flatMap(\.numbers) == [1, 2, 3])
        for number in 4...6 { #expect(park(&state, phone, number, after: 11) == nil) }
        for _ in 0..<110 { _ = state.advance() }
        #expect(state.counters.parked == 0)
        for number in 7...9 { #expect(park(&state, phone, number, after: 11) == nil) }
        let decision = state.poll(
            Identity(user: ann, session: phone), from: cursor(10), limit: 100, waitTickCount: 100,
            waiter: NumberedWaiter(10))
        // The poll is answered at once, so no other poll has to make room.
        guard case .answer = decision else { return #expect(Bool(false), "\(decision)") }
        #expect(state.counters.displaced == 0 && state.counters.parked == 3)
    }

    @Test("a device whose oldest poll was ended still counts as polling and online")
    func devices() {
        var state = openState()
        for number in 1...20 { _ = park(&state, phone, number) }
        for _ in 0..<40 { _ = state.advance() }
        let changes = state.takeDevices()
        #expect(changes.came.map(\.session) == [phone] && changes.gone.isEmpty)
        #expect(state.takePresence().went.isEmpty)
        // Also with a bound of one, where for a moment no poll of the session waits.
        var single = openState(session: 1, account: 1)
        for number in 1...20 { _ = park(&single, phone, number) }
        for _ in 0..<40 { _ = single.advance() }
        #expect(single.takeDevices().gone.isEmpty)
    }

    @Test(
        "a device whose only poll made room for another device's has gone after the usual time, unless it polls again")
    func otherDevices() {
        var state = openState(session: 1, account: 1)
        _ = park(&state, phone, 1)
        #expect(park(&state, desk, 2)?.numbers == [1])
        for _ in 0..<10 { _ = state.advance() }
        let changes = state.takeDevices()
        #expect(changes.gone.map(\.session) == [phone] && changes.came.map(\.session) == [desk])
    }

    /// The model: the waiting polls, the oldest first.
    @Test(
        "are exact over random histories, and end the oldest first",
        arguments: Seed.fresh("bounds of polls", count: 100))
    func random(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let (ofSession, ofAccount) = (1 + Int(random.next() % 5), 1 + Int(random.next() % 12))
        let sessions = (0..<6).map { _ in SessionID.make() }
        var state = openState(session: ofSession, account: ofAccount)
        var waiting: [(number: Int, session: SessionID, id: UInt64)] = []
        for number in 1...300 {
            let session = sessions[Int(random.next() % 6)]
            switch random.next() % 8 {
            case 0 where !waiting.isEmpty:
                let gone = waiting.remove(at: Int(random.next() % UInt64(waiting.count)))
                let wasThere = state.cancel(ann, poll: gone.id)
                #expect(wasThere)
            case 1:
                let ended = state.advance().flatMap(\.numbers)
                waiting.removeAll { ended.contains($0.number) }
            default:
                let decision = state.poll(
                    Identity(user: ann, session: session), from: cursor(10), limit: 10,
                    waitTickCount: 1 + Int(random.next() % 20), waiter: NumberedWaiter(number),
                    acks: random.next() % 2 == 0)
                guard case .parked(let id, let displaced) = decision else { return #expect(Bool(false)) }
                var oldest: Int?
                if waiting.count(where: { $0.session == session }) >= ofSession {
                    oldest = waiting.firstIndex { $0.session == session }
                } else if waiting.count >= ofAccount {
                    oldest = 0
                }
                #expect(displaced?.numbers == oldest.map { [waiting[$0].number] }, "seed \(seed)")
                if let oldest { waiting.remove(at: oldest) }
                waiting.append((number, session, id))
            }
            #expect(state.counters.parked == waiting.count, "seed \(seed)")
        }
        #expect(state.takeDevices().came.count <= sessions.count)
    }
}
