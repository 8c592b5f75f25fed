// The hub's decisions when the log continues in a new epoch: what stays, and what was in a lost part.
import Domain
import Store
import Testing

@testable import Log

@Suite("A hub whose log continues in a new epoch", .timeLimit(.minutes(1)))
struct NewEpochs {
    let ann = Identity(user: UserID.make(), session: SessionID.make())
    let ben = Identity(user: UserID.make(), session: SessionID.make())
    let thread = ThreadID.make()

    private func event(_ position: Int64) -> Event {
        Event(StoredEvent(position: Position(position), type: "", thread: thread, body: JSONText(utf8: [120])))
    }

    private func cursor(_ epoch: Int32, _ position: Int64) -> Cursor {
        Cursor(epoch: epoch, position: Position(position))
    }

    /// Ann's mailbox at 3, events up to 5 applied.
    private func state() -> HubState {
        var state = HubState(start: cursor(1, 3))
        let isOpen = state.open(ann.user, threads: [thread], at: cursor(1, 3))
        #expect(isOpen)
        _ = state.apply([event(4), event(5)])
        return state
    }

    private func poll(_ state: inout HubState, _ identity: Identity, from cursor: Cursor, wait: Int = 10)
        -> HubState.PollDecision
    {
        state.poll(identity, from: cursor, limit: 10, waitTickCount: wait, waiter: NumberedWaiter(1))
    }

    @Test("keeps its waiting polls, and answers them with cursors of the new epoch")
    func parkedPolls() {
        var state = state()
        guard case .parked = poll(&state, ann, from: cursor(1, 5)) else { return #expect(Bool(false)) }
        #expect(state.adopt(7, after: Position(6)).isEmpty)
        #expect(state.counters.parked == 1)
        let wakes = state.apply([event(6)])
        guard wakes.count == 1, case .events(let events, let upTo, _) = wakes[0].answer else {
            return #expect(Bool(false), "\(wakes.count) answers")
        }
        #expect(events.map(\.position.value) == [6])
        #expect(upTo == cursor(7, 6))
    }

    @Test("answers older cursors from its mailboxes, if they are before the new epoch")
    func olderCursors() {
        var state = state()
        _ = state.adopt(7, after: Position(6))
        _ = state.apply([event(6)])
        guard case .answer(.events(let events, let upTo, _)) = poll(&state, ann, from: cursor(1, 4)) else {
            return #expect(Bool(false), "not from the mailbox")
        }
        #expect(events.map(\.position.value) == [5, 6])
        #expect(upTo == cursor(7, 6))
        // From the lost tail, or from an unknown epoch: only the database knows.
        for stranger in [cursor(1, 6), cursor(1, 8), cursor(3, 4)] {
            guard case .cold = poll(&state, ann, from: stranger) else { return #expect(Bool(false), "\(stranger)") }
        }
        _ = state.adopt(9, after: Position(7))
        for older in [cursor(1, 5), cursor(7, 6)] {
            guard case .answer = poll(&state, ann, from: older, wait: 0) else { return #expect(Bool(false)) }
        }
    }

    /// Another node had read further into the lost part, and this node's client polled there first.
    @Test("answers polls that are ahead of it in a lost part, and refuses them the next time")
    func aheadOfTheNode() {
        var state = state()
        guard case .parked = poll(&state, ann, from: cursor(1, 8)) else { return #expect(Bool(false)) }
        guard case .parked = poll(&state, ann, from: cursor(1, 5)) else { return #expect(Bool(false)) }
        let wakes = state.adopt(7, after: Position(6))
        guard wakes.count == 1, case .events(let events, let upTo, _) = wakes[0].answer else {
            return #expect(Bool(false), "\(wakes.count) answers")
        }
        #expect(events.isEmpty)
        #expect(upTo == cursor(1, 8))
        #expect(state.counters.parked == 1)
        guard case .cold = poll(&state, ann, from: upTo) else { return #expect(Bool(false)) }
    }

    @Test("closes a mailbox that was read from a lost part")
    func mailboxAhead() {
        var state = state()
        let isOpen = state.open(ben.user, threads: [], at: cursor(1, 8))
        #expect(isOpen)
        guard case .parked = poll(&state, ben, from: cursor(1, 8)) else { return #expect(Bool(false)) }
        #expect(state.adopt(7, after: Position(6)).count == 1)
        #expect(state.mailboxCount == 1)
        // In the new epoch Ben joins the thread at a position that the lost tail had used, too.
        let isOpenAgain = state.open(ben.user, threads: [thread], at: cursor(7, 5))
        #expect(isOpenAgain)
        _ = state.apply([event(6), event(7), event(8)])
        guard case .answer(.events(let events, _, _)) = poll(&state, ben, from: cursor(7, 5)) else {
            return #expect(Bool(false))
        }
        #expect(events.map(\.position.value) == [6, 7, 8])
    }
}
