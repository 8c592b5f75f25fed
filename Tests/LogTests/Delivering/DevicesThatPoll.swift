// Which devices poll here, according to the hub: which came, and which have not polled for a while. Ticks are a
// parameter.
import Domain
import Store
import Testing

@testable import Log

@Suite("Devices that poll", .timeLimit(.minutes(1)))
struct DevicesThatPoll {
    private let ann = UserID.make()
    private let thread = ThreadID.make()
    private let phone = SessionID.make()
    private let desk = SessionID.make()

    private func cursor(_ position: Int64) -> Cursor { Cursor(epoch: 1, position: Position(position)) }

    private func identity(_ session: SessionID) -> Identity { Identity(user: ann, session: session) }

    /// Ann's mailbox at position 10, where a device is gone after four ticks.
    private func openState() -> HubState {
        var limits = HubLimits()
        limits.deviceWaitTickCount = 4
        var state = HubState(start: cursor(10), limits: limits)
        _ = state.open(ann, threads: [thread], at: cursor(10))
        return state
    }

    private func event(_ position: Int64, in thread: ThreadID) -> Event {
        Event(
            StoredEvent(
                position: Position(position), type: "message.created", thread: thread, body: JSONText(utf8: [120])))
    }

    @discardableResult
    private func poll(
        _ state: inout HubState, _ session: SessionID, after: Int64, wait: Int = 100, acks: Bool = true
    ) -> UInt64? {
        let decision = state.poll(
            identity(session), from: cursor(after), limit: 100, waitTickCount: wait, waiter: NumberedWaiter(1),
            acks: acks)
        guard case .parked(let poll, _) = decision else { return nil }
        return poll
    }

    private func pass(_ state: inout HubState, ticks: Int) {
        for _ in 0..<ticks { _ = state.advance() }
    }

    /// The devices that came and went, with their positions.
    private func changes(_ state: inout HubState) -> (came: [SessionID: Int64], gone: [SessionID: Int64]) {
        let changes = state.takeDevices()
        return (
            Dictionary(uniqueKeysWithValues: changes.came.map { ($0.session, $0.position.value) }),
            Dictionary(uniqueKeysWithValues: changes.gone.map { ($0.session, $0.position.value) })
        )
    }

    @Test("come with their first poll, and are reported once")
    func comes() {
        var state = openState()
        poll(&state, phone, after: 10)
        #expect(changes(&state).came == [phone: 10])
        poll(&state, phone, after: 10)
        pass(&state, ticks: 50)
        let later = changes(&state)
        #expect(later.came.isEmpty && later.gone.isEmpty)
    }

    @Test("have gone some time after the end of their last poll, however it ended, and not earlier")
    func goes() throws {
        var state = openState()
        let first = try #require(poll(&state, phone, after: 10))
        pass(&state, ticks: 3)
        _ = state.cancel(ann, poll: first)
        pass(&state, ticks: 3)
        #expect(changes(&state).gone.isEmpty)
        // Back before the deadline: it never went.
        poll(&state, phone, after: 10)
        pass(&state, ticks: 3)
        _ = state.apply([event(11, in: thread)])
        pass(&state, ticks: 3)
        #expect(changes(&state).gone.isEmpty)
        pass(&state, ticks: 1)
        // The event that it may not have received.
        #expect(changes(&state).gone == [phone: 10])
        pass(&state, ticks: 10)
        #expect(changes(&state).gone.isEmpty)
        poll(&state, phone, after: 11)
        #expect(changes(&state).came == [phone: 11])
    }

    @Test("count one by one: another polling device of the same user keeps none here")
    func apart() throws {
        var state = openState()
        poll(&state, desk, after: 10)
        let first = try #require(poll(&state, phone, after: 10))
        _ = state.cancel(ann, poll: first)
        for position in Int64(11)...16 {
            _ = state.apply([event(position, in: thread)])
            poll(&state, desk, after: position)
            pass(&state, ticks: 1)
        }
        let found = changes(&state)
        #expect(found.gone == [phone: 10])
        #expect(found.came == [desk: 16])
    }

    @Test("have received events for others, too: only an event for them limits their position")
    func skipsOthers() throws {
        var state = openState()
        let first = try #require(poll(&state, phone, after: 10))
        _ = state.apply((11...14).map { event($0, in: ThreadID.make()) })
        _ = state.cancel(ann, poll: first)
        _ = state.apply([event(15, in: thread), event(16, in: ThreadID.make())])
        pass(&state, ticks: 5)
        #expect(changes(&state).gone == [phone: 14])
    }

    @Test("that are always answered at once are here, and so are those whose poll reads the database")
    func cold() {
        var state = openState()
        for _ in 0..<10 {
            poll(&state, phone, after: 10, wait: 0)
            pass(&state, ticks: 2)
        }
        #expect(changes(&state).gone.isEmpty)
        let other = Identity(user: UserID.make(), session: desk)
        let read = state.beginRead(other, from: Position(3), acks: true)
        pass(&state, ticks: 20)
        let found = changes(&state)
        #expect(found.gone == [phone: 10])
        #expect(found.came == [desk: 3])
        state.endRead(read)
        pass(&state, ticks: 4)
        #expect(changes(&state).gone == [desk: 3])
    }

    @Test("with streams have received what they were sent long enough ago")
    func streams() throws {
        var state = openState()
        poll(&state, phone, after: 10)
        var stream = try #require(poll(&state, phone, after: 10, acks: false))
        var sent: [Int64] = []
        // An event every ten seconds, for three minutes.
        for position in Int64(11)...28 {
            pass(&state, ticks: 10 * HubLimits.secondTickCount)
            _ = state.apply([event(position, in: thread)])
            stream = try #require(poll(&state, phone, after: position, acks: false))
            sent.append(position)
        }
        _ = state.cancel(ann, poll: stream)
        pass(&state, ticks: 5)
        let has = try #require(changes(&state).gone[phone])
        // Within 45 to 100 seconds of the last.
        #expect((18...23).contains(has))
    }

    @Test("are all gone when the node stops, with their positions")
    func leaves() throws {
        var state = openState()
        poll(&state, phone, after: 10)
        _ = state.apply([event(11, in: ThreadID.make())])
        _ = state.drain(atMost: .max)
        #expect(Set(changes(&state).came.keys) == [phone])
        state.recordAllGone()
        #expect(changes(&state).gone == [phone: 11])
        pass(&state, ticks: 10)
        #expect(changes(&state).gone.isEmpty)
    }

    @Test("are gone at once when they are signed out, and stay when their mailbox closes")
    func ends() throws {
        var state = openState()
        poll(&state, phone, after: 10)
        let other = try #require(poll(&state, desk, after: 10))
        var revoked = StoredEvent(
            position: Position(11), type: "session.revoked", thread: nil, user: ann, body: JSONText(utf8: [120]))
        revoked.session = phone
        _ = state.apply([Event(revoked)])
        let found = changes(&state)
        #expect(Set(found.gone.keys) == [phone] && Set(found.came.keys) == [desk])
        _ = state.restart(at: cursor(5))
        _ = state.cancel(ann, poll: other)
        pass(&state, ticks: 5)
        #expect(changes(&state).gone == [desk: 5])
    }
}
