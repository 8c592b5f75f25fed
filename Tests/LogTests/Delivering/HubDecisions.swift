// The hub's decisions, without I/O: which polls get which events, in order and without gaps.
import Domain
import Store
import Testing

@testable import Log

@Suite("A hub", .timeLimit(.minutes(1)))
struct HubDecisions {
    let ann = UserID.make()
    let ben = UserID.make()
    let thread = ThreadID.make()

    private func identity(_ user: UserID) -> Identity { Identity(user: user, session: SessionID.make()) }

    private func event(
        _ position: Int64, _ thread: ThreadID?, user: UserID? = nil, begins: [UserID] = [], ends: [UserID] = [],
        session: SessionID? = nil, withdraws: Int64? = nil, byteCount: Int = 10
    ) -> Event {
        Event(
            StoredEvent(
                position: Position(position), type: "message.created", thread: thread, user: user, begins: begins,
                ends: ends, session: session, withdraws: withdraws.map { Position($0) },
                body: JSONText(utf8: Array(repeating: 120, count: byteCount))))
    }

    private func cursor(_ position: Int64) -> Cursor { Cursor(epoch: 1, position: Position(position)) }

    private func state(head: Int64 = 0, limits: HubLimits = HubLimits()) -> HubState {
        HubState(start: cursor(head), limits: limits)
    }

    /// A hub where Ann, a member of the thread, has an open mailbox.
    private func openState(_ change: (inout HubLimits) -> Void = { _ in }) -> HubState {
        var limits = HubLimits()
        change(&limits)
        var state = state(limits: limits)
        _ = state.open(ann, threads: [thread], at: cursor(0))
        return state
    }

    private func positions(_ answer: PollAnswer) -> [Int64]? {
        guard case .events(let events, _, _) = answer else { return nil }
        return events.map(\.position.value)
    }

    private func poll(
        _ state: inout HubState, _ user: UserID, after: Int64, wait: Int = 0, limit: Int = 100, waiter: Int = 1
    ) -> HubState.PollDecision {
        state.poll(
            identity(user), from: cursor(after), limit: limit, waitTickCount: wait, waiter: NumberedWaiter(waiter))
    }

    /// Expects a poll to be answered at once, with the events at these positions.
    private func expectAnswer(
        _ expected: [Int64], _ state: inout HubState, _ user: UserID, after: Int64,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard case .answer(let answer) = poll(&state, user, after: after) else {
            Issue.record("no answer", sourceLocation: sourceLocation)
            return
        }
        #expect(positions(answer) == expected, sourceLocation: sourceLocation)
    }

    /// Expects a poll to be sent to the database.
    private func expectCold(
        _ state: inout HubState, _ user: UserID, after: Int64, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard case .cold = poll(&state, user, after: after) else {
            Issue.record("not cold", sourceLocation: sourceLocation)
            return
        }
    }

    /// Parks a poll and returns its number.
    @discardableResult
    private func park(
        _ state: inout HubState, _ user: UserID, after: Int64, waiter: Int = 1,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> UInt64? {
        guard case .parked(let id, _) = poll(&state, user, after: after, wait: 10, waiter: waiter) else {
            Issue.record("not parked", sourceLocation: sourceLocation)
            return nil
        }
        return id
    }

    @Test("sends a poll without a mailbox to the database")
    func cold() {
        var state = state()
        expectCold(&state, ann, after: 0)
    }

    @Test("answers from the mailbox with the events after the cursor, once")
    func answersFromMailbox() {
        var state = state()
        let opened = state.open(ann, threads: [thread], at: cursor(0))
        #expect(opened)
        _ = state.apply([event(1, thread), event(2, ThreadID.make()), event(3, thread)])
        guard case .answer(.events(let events, let upTo, let more)) = poll(&state, ann, after: 0) else {
            return #expect(Bool(false), "no answer")
        }
        #expect(events.map(\.position.value) == [1, 3])
        #expect(upTo == cursor(3))
        #expect(!more)
        expectAnswer([], &state, ann, after: 3)
    }

    @Test("answers a parked poll with all events of a read at once, and only the polls concerned")
    func wakes() {
        var state = openState()
        _ = state.open(ben, threads: [], at: cursor(0))
        park(&state, ann, after: 0, waiter: 7)
        park(&state, ben, after: 0, waiter: 8)
        let wakes = state.apply([event(1, thread), event(2, thread)])
        #expect(wakes.map(\.numbers) == [[7]])
        #expect(positions(wakes[0].answer) == [1, 2])
        #expect(state.counters.parked == 1)
    }

    @Test("replays events between the read of the database and the opening of the mailbox")
    func replays() {
        var state = state()
        _ = state.apply([event(1, thread), event(2, thread), event(3, thread)])
        let opened = state.open(ann, threads: [thread], at: cursor(1))
        #expect(opened)
        expectAnswer([2, 3], &state, ann, after: 1)
    }

    @Test("replays joining and leaving in order, too")
    func replaysMembership() {
        var state = state()
        _ = state.apply([
            event(1, thread), event(2, thread, begins: [ann]), event(3, thread), event(4, thread, ends: [ann]),
            event(5, thread),
        ])
        let opened = state.open(ann, threads: [], at: cursor(0))
        #expect(opened)
        // Events before the leaving are only in the database: see the test of leaving.
        expectAnswer([4], &state, ann, after: 3)
        let benOpened = state.open(ben, threads: [thread], at: cursor(1))
        #expect(benOpened)
        expectAnswer([2, 3, 4, 5], &state, ben, after: 1)
    }

    @Test("drops the events of a thread for a member who leaves, because it would miss their withdrawal")
    func leaves() {
        var state = openState()
        _ = state.apply([event(1, thread), event(2, thread, ends: [ann]), event(3, thread, withdraws: 1)])
        expectCold(&state, ann, after: 0)
        expectAnswer([2], &state, ann, after: 1)
    }

    @Test("does not apply events again that a snapshot ahead of the tail includes")
    func snapshotAhead() {
        var state = state()
        // Read at 3, where Ann had left the thread again; the tail is not there yet.
        let opened = state.open(ann, threads: [], at: cursor(3))
        #expect(opened)
        _ = state.apply([
            event(1, thread, begins: [ann]), event(2, thread), event(3, thread, ends: [ann]), event(4, thread),
        ])
        guard case .answer(.events(let events, let upTo, _)) = poll(&state, ann, after: 3) else {
            return #expect(Bool(false))
        }
        #expect(events.isEmpty)
        #expect(upTo == cursor(4))
    }

    @Test("refuses to open a mailbox when the events since the read were dropped")
    func refusesToOpen() {
        var limits = HubLimits()
        limits.recentEventCountMax = 2
        var state = state(limits: limits)
        _ = state.apply((1...5).map { event($0, thread) })
        let opened = state.open(ann, threads: [thread], at: cursor(2))
        #expect(!opened)
        let reopened = state.open(ann, threads: [thread], at: cursor(3))
        #expect(reopened)
    }

    @Test("keeps a poll waiting whose cursor is ahead of this node's tail")
    func cursorAhead() {
        var state = openState()
        park(&state, ann, after: 2)
        #expect(state.apply([event(1, thread), event(2, thread)]).isEmpty)
        let wakes = state.apply([event(3, thread)])
        #expect(wakes.count == 1)
        #expect(positions(wakes[0].answer) == [3])
    }

    @Test("drops the oldest of a full mailbox, and then reads the database for cursors before them")
    func overflow() {
        var state = openState { $0.mailboxEventCountMax = 3 }
        _ = state.apply((1...5).map { event($0, thread) })
        #expect(state.counters.dropped == 2)
        expectCold(&state, ann, after: 1)
        expectAnswer([3, 4, 5], &state, ann, after: 2)
    }

    @Test("bounds an answer in events and in bytes, and sets `more`")
    func bounds() {
        var state = openState { $0.answerByteCountMax = 25 }
        _ = state.apply([event(1, thread, byteCount: 100), event(2, thread), event(3, thread), event(4, thread)])
        guard case .answer(.events(let first, let upTo, let more)) = poll(&state, ann, after: 0) else {
            return #expect(Bool(false))
        }
        #expect(first.map(\.position.value) == [1])
        #expect(upTo == cursor(1))
        #expect(more)
        guard case .answer(.events(let second, _, let moreYet)) = poll(&state, ann, after: 1, limit: 2) else {
            return #expect(Bool(false))
        }
        #expect(second.map(\.position.value) == [2, 3])
        #expect(moreYet)
    }

    @Test("drops withdrawn content: it is read again from the database")
    func withdraws() {
        var state = openState()
        _ = state.apply([event(1, thread), event(2, thread, withdraws: 1)])
        expectCold(&state, ann, after: 0)
        expectAnswer([2], &state, ann, after: 1)
        let opened = state.open(ben, threads: [thread], at: cursor(0))
        #expect(!opened)
    }

    @Test("drops everything for a withdrawal without a thread, including events for one user alone")
    func withdrawsAll() {
        var state = openState()
        _ = state.apply([event(1, thread), event(2, nil, user: ann), event(3, nil, user: UserID.make(), withdraws: 2)])
        for user in [ann, ben] {
            expectCold(&state, user, after: 1)
        }
        _ = state.apply([event(4, thread)])
        expectAnswer([4], &state, ann, after: 2)
    }

    @Test("ends the polls of a session that is signed out, and no others")
    func revokes() {
        var state = openState()
        let gone = identity(ann)
        _ = state.poll(gone, from: cursor(0), limit: 10, waitTickCount: 10, waiter: NumberedWaiter(1))
        _ = poll(&state, ann, after: 0, wait: 10, waiter: 2)
        let wakes = state.apply([event(1, nil, user: ann, session: gone.session)])
        #expect(wakes.count == 2)
        for wake in wakes {
            if case .revoked = wake.answer { #expect(wake.numbers == [1]) } else { #expect(wake.numbers == [2]) }
        }
    }

    @Test("answers a poll without events when its time is over, with a later cursor")
    func timesOut() throws {
        var state = state()
        _ = state.open(ann, threads: [], at: cursor(0))
        _ = poll(&state, ann, after: 0, wait: 2)
        _ = state.apply([event(1, thread)])
        // The tick in which the poll came does not count.
        for _ in 0..<2 { #expect(state.advance().isEmpty) }
        let wakes = state.advance()
        try #require(wakes.count == 1)
        guard case .events(let events, let upTo, _) = wakes[0].answer else { return #expect(Bool(false)) }
        #expect(events.isEmpty)
        #expect(upTo == cursor(1))
    }

    @Test("sends polls that end together one answer, and a poll ahead of this node its own cursor")
    func endsTogether() throws {
        var state = openState()
        _ = state.open(ben, threads: [thread], at: cursor(0))
        _ = poll(&state, ann, after: 0, wait: 1, waiter: 1)
        _ = poll(&state, ben, after: 0, wait: 1, waiter: 2)
        _ = poll(&state, ben, after: 7, wait: 1, waiter: 3)
        #expect(state.advance().isEmpty)
        let wakes = state.advance()
        #expect(Set(wakes.map { $0.numbers.sorted() }) == [[1, 2], [3]])
        #expect(state.counters.parked == 0)
    }

    @Test("ends waits of 20 s and more with whole seconds, less than a second early; shorter ones exactly")
    func longWaitsEndTogether() {
        for (wait, end) in [(79, 83), (80, 84), (81, 84), (82, 84), (220, 224)] {
            var state = openState()
            for _ in 0..<3 { _ = state.advance() }
            _ = poll(&state, ann, after: 0, wait: wait)
            var tick = 3
            while tick < 1000, state.counters.parked > 0 {
                tick += 1
                _ = state.advance()
            }
            #expect(tick == end, "after \(wait) ticks")
        }
    }

    @Test("closes an unused mailbox, but none with a waiting poll")
    func idle() {
        var state = openState()
        _ = state.open(ben, threads: [thread], at: cursor(0))
        _ = poll(&state, ben, after: 0, wait: 100_000)
        for _ in 0..<1000 { _ = state.advance() }
        #expect(state.mailboxCount == 1)
        #expect(state.apply([event(1, thread)]).count == 1)
    }

    @Test("removes a poll whose client has gone")
    func cancels() throws {
        var state = openState()
        let parked = park(&state, ann, after: 0)
        let id = try #require(parked)
        let wasWaiting = state.cancel(ann, poll: id)
        #expect(wasWaiting)
        #expect(state.apply([event(1, thread)]).isEmpty)
        #expect(state.counters.parked == 0)
    }

    @Test("when closing, answers waiting and new polls, and reports that it closes")
    func closes() {
        var state = openState()
        _ = poll(&state, ann, after: 0, wait: 10)
        state.beginClosing()
        let wakes = state.drain(atMost: 10)
        guard wakes.count == 1, case .closing = wakes[0].answer else { return #expect(Bool(false)) }
        guard case .answer(.closing) = poll(&state, ann, after: 0, wait: 10) else { return #expect(Bool(false)) }
    }

    @Test("sends a parked poll to the database when one read brings more than its mailbox holds")
    func overflowsUnderAParkedPoll() {
        var state = openState { $0.mailboxEventCountMax = 3 }
        park(&state, ann, after: 0)
        expectAgain(state.apply((1...5).map { event($0, thread) }), from: 0)
        expectCold(&state, ann, after: 0)
    }

    @Test("sends a parked poll to the database when one read brings a message and its withdrawal")
    func withdrawsUnderAParkedPoll() {
        var state = openState()
        park(&state, ann, after: 0)
        expectAgain(state.apply([event(1, thread), event(2, thread, withdraws: 1)]), from: 0)
        expectCold(&state, ann, after: 0)
    }

    /// One answer without events and with the poll's own cursor: the client polls again at once.
    private func expectAgain(_ wakes: [Wake], from position: Int64) {
        guard wakes.count == 1, case .events(let events, let upTo, let more) = wakes[0].answer else {
            return #expect(Bool(false), "no answer")
        }
        #expect(events.isEmpty)
        #expect(upTo == cursor(position))
        #expect(more)
    }

    @Test("a client's cursor past the node's head is cold, and does not count as received")
    func futureCursors() {
        var state = openState()
        // Opened by a read of the database, which was ahead of this node.
        _ = state.open(ben, threads: [thread], at: cursor(7))
        for (user, known) in [(ann, Int64(0)), (ben, 7)] {
            for (position, isCold) in [(known, false), (known + 1, true), (.max, true)] {
                let decision = state.poll(
                    identity(user), from: cursor(position), limit: 100, waitTickCount: 10, waiter: NumberedWaiter(1),
                    isGiven: false)
                if case .cold = decision { #expect(isCold) } else { #expect(!isCold) }
            }
        }
        #expect(state.devices.allSatisfy { $0.position <= Position(7) })
    }
}
