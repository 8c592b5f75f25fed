// Which delivered marks are due, and when, as the hub decides without I/O.
import Domain
import Store
import Testing

@testable import Log

@Suite("Delivered marks from cursors", .timeLimit(.minutes(1)))
struct DeliveredMarksFromCursors {
    let ann = UserID.make()
    let ben = UserID.make()
    let thread = ThreadID.make()
    let devices: [UserID: SessionID]

    init() {
        devices = [ann: .make(), ben: .make()]
    }

    private func message(
        _ position: Int64, type: String = "message.created", untilDelivered: Bool = false
    ) -> Event {
        Event(
            StoredEvent(
                position: Position(position), type: type, thread: thread, untilDelivered: untilDelivered,
                body: JSONText(utf8: Array("{}".utf8))))
    }

    private func cursor(_ position: Int64) -> Cursor { Cursor(epoch: 1, position: Position(position)) }

    private func poll(
        _ state: inout HubState, _ user: UserID, after position: Int64, on session: SessionID? = nil
    ) {
        _ = state.poll(
            Identity(user: user, session: session ?? devices[user] ?? .make()), from: cursor(position), limit: 100,
            waitTickCount: 40, waiter: NumberedWaiter(1))
    }

    private func pass(_ ticks: Int, _ state: inout HubState) {
        for _ in 0..<ticks { _ = state.advance() }
    }

    /// Both have open mailboxes, and have received everything before.
    private func open() -> HubState {
        var state = HubState(start: cursor(0))
        for user in [ann, ben] {
            _ = state.open(user, threads: [thread], at: cursor(0))
            poll(&state, user, after: 0)
        }
        #expect(Set(state.takeDeliveries()) == [come(ann, 0), come(ben, 0)])
        return state
    }

    private func mark(_ user: UserID, _ thread: ThreadID?, _ position: Int64) -> Delivery {
        Delivery(user: user, thread: thread, position: Position(position))
    }

    /// The messages that a device has received in all threads.
    private func come(_ user: UserID, _ position: Int64) -> Delivery {
        Delivery(user: user, session: devices[user], thread: nil, position: Position(position))
    }

    @Test("a stream, which continues by itself, does not acknowledge anything")
    func streams() {
        var state = open()
        _ = state.apply([message(1)])
        let stream = Identity(user: ben, session: SessionID.make())
        _ = state.poll(
            stream, from: cursor(1), limit: 100, waitTickCount: 40, waiter: NumberedWaiter(1), acks: false)
        pass(HubDeliveries.tickCount, &state)
        #expect(state.takeDeliveries().isEmpty)
        poll(&state, ben, after: 1)
        pass(HubDeliveries.tickCount, &state)
        #expect(state.takeDeliveries() == [mark(ben, thread, 1)])
    }

    @Test("a message is marked once, after a second, for each member whose cursor has passed it, and for no others")
    func marks() {
        var state = open()
        _ = state.apply([message(1)])
        poll(&state, ben, after: 1)
        #expect(state.takeDeliveries().isEmpty)
        pass(HubDeliveries.firstTickCount, &state)
        #expect(state.takeDeliveries() == [mark(ben, thread, 1)])
        pass(HubDeliveries.tickCount, &state)
        #expect(state.takeDeliveries().isEmpty)
        poll(&state, ann, after: 1)
        poll(&state, ben, after: 1)
        pass(HubDeliveries.tickCount, &state)
        #expect(state.takeDeliveries() == [mark(ann, thread, 1)])
        pass(HubDeliveries.tickCount, &state)
        #expect(state.takeDeliveries().isEmpty)
    }

    @Test("many messages become one mark for each member and interval")
    func coalesces() {
        var state = open()
        var taken: [Delivery] = []
        for position in 1...200 {
            _ = state.apply([message(Int64(position))])
            for user in [ann, ben] { poll(&state, user, after: Int64(position)) }
            pass(1, &state)
            taken += state.takeDeliveries()
        }
        #expect(taken.filter { $0.user == ann }.count <= 1 + 200 / HubDeliveries.tickCount)
        pass(HubDeliveries.tickCount, &state)
        taken += state.takeDeliveries()
        #expect(Set(taken.suffix(2)) == [mark(ann, thread, 200), mark(ben, thread, 200)])
    }

    @Test("a member who has received a part is marked for it, and for the rest later")
    func lagsBehind() {
        var state = open()
        _ = state.apply([message(1), message(2)])
        poll(&state, ann, after: 1)
        pass(HubDeliveries.firstTickCount, &state)
        #expect(state.takeDeliveries() == [mark(ann, thread, 1)])
        _ = state.apply([message(3)])
        poll(&state, ann, after: 3)
        poll(&state, ben, after: 2)
        pass(HubDeliveries.tickCount, &state)
        #expect(Set(state.takeDeliveries()) == [mark(ann, thread, 3), mark(ben, thread, 2)])
    }

    @Test(
        "each device is marked for content that waits for it, whatever the user's other devices have received"
    )
    func marksDevices() {
        var state = open()
        let phone = SessionID.make()
        poll(&state, ann, after: 0, on: phone)
        #expect(state.takeDeliveries() == [Delivery(user: ann, session: phone, thread: nil, position: .start)])
        _ = state.apply([message(1, untilDelivered: true), message(2)])
        poll(&state, ann, after: 2)
        pass(HubDeliveries.firstTickCount, &state)
        #expect(
            Set(state.takeDeliveries()) == [
                mark(ann, thread, 2),
                Delivery(user: ann, session: devices[ann], thread: thread, position: Position(1)),
            ])
        poll(&state, ann, after: 2, on: phone)
        pass(HubDeliveries.firstTickCount, &state)
        #expect(
            state.takeDeliveries() == [Delivery(user: ann, session: phone, thread: thread, position: Position(1))])
        // An edit of such a message is content, too, but not a message.
        _ = state.apply([message(3, type: "message.updated", untilDelivered: true)])
        poll(&state, ann, after: 3)
        pass(HubDeliveries.firstTickCount, &state)
        #expect(
            Set(state.takeDeliveries()) == [
                Delivery(user: ann, session: devices[ann], thread: thread, position: Position(3)),
                Delivery(user: ann, session: phone, thread: thread, position: Position(2)),
            ])
    }

    @Test("events other than messages move no mark")
    func ignoresOthers() {
        var state = open()
        _ = state.apply([message(1, type: "receipt.updated")])
        poll(&state, ann, after: 1)
        pass(HubDeliveries.largeTickCount, &state)
        #expect(state.takeDeliveries().isEmpty)
    }

    @Test("a new device is marked in all threads when it has received what was there, or when it has gone")
    func opens() {
        var state = HubState(start: cursor(9))
        _ = state.open(ann, threads: [thread], at: cursor(9), acked: (devices[ann] ?? .make(), Position(4)))
        _ = state.open(ben, threads: [thread], at: cursor(9), acked: (devices[ben] ?? .make(), Position(5)))
        #expect(state.takeDeliveries().isEmpty)
        poll(&state, ann, after: 9)
        #expect(state.takeDeliveries() == [come(ann, 9)])
        // A slow device is marked for the messages that it has received.
        pass(HubDeliveries.tickCount, &state)
        #expect(state.takeDeliveries() == [come(ben, 5)])
        #expect(state.takeDeliveries().isEmpty)
        pass(state.limits.mailboxIdleTickCountMax + 1, &state)
        #expect(state.takeDeliveries() == [come(ben, 5)])
    }

    @Test("nothing is marked for positions of a tail that was lost")
    func forgetsLostTail() {
        var state = open()
        _ = state.apply([message(1)])
        poll(&state, ann, after: 1)
        _ = state.restart(at: Cursor(epoch: 2, position: .start))
        pass(HubDeliveries.largeTickCount, &state)
        #expect(state.takeDeliveries().isEmpty)
    }
}
