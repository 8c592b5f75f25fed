// Events that are not stored, typing and presence: how they are bounded, packed and delivered. Without I/O.
import Domain
import Store
import Testing

@testable import Log

@Suite("Passing events", .timeLimit(.minutes(1)))
struct PassingEvents {
    let ann = UserID.make()
    let ben = UserID.make()
    let thread = ThreadID.make()

    private func event(_ user: UserID, _ text: String = "{}", in threads: [ThreadID]? = nil) -> PassingEvent {
        PassingEvent(user: user, threads: threads ?? [thread], body: JSONText(utf8: Array(text.utf8)))
    }

    private func cursor(_ position: Int64) -> Cursor { Cursor(epoch: 1, position: Position(position)) }

    private func poll(
        _ state: inout HubState, _ user: UserID, after position: Int64, limit: Int = 100, waiter: Int = 1
    ) -> HubState.PollDecision {
        state.poll(
            Identity(user: user, session: SessionID.make()), from: cursor(position), limit: limit, waitTickCount: 100,
            waiter: NumberedWaiter(waiter))
    }

    private func told(_ answer: PollAnswer) -> [String] {
        guard case .events(let events, _, more: false) = answer else { return ["?"] }
        return events.map { String(decoding: $0.body, as: UTF8.self) }
    }

    private func open() -> HubState {
        var state = HubState(start: cursor(7))
        for user in [ann, ben] { _ = state.open(user, threads: [thread], at: cursor(7)) }
        return state
    }

    // MARK: The hub

    @Test("answer the waiting polls of others, and do not move the cursor")
    func wakes() {
        var state = open()
        for (number, user) in [ann, ben].enumerated() { _ = poll(&state, user, after: 7, waiter: number) }
        let wakes = state.pass([event(ann, "1"), event(ann, "2", in: [ThreadID.make()])])
        #expect(wakes.count == 1)
        #expect(wakes.first?.waiters.compactMap { ($0 as? NumberedWaiter)?.number } == [1])
        #expect(wakes.map { told($0.answer) } == [["1"]])
        guard case .events(_, upTo: cursor(7), _)? = wakes.first?.answer else {
            Issue.record("the cursor has moved")
            return
        }
        #expect(state.counters.parked == 1)
    }

    @Test("wait for a device between two polls, are delivered once, and never follow the log's events")
    func waitsForNextPoll() {
        var state = open()
        #expect(state.pass([event(ann, "1"), event(ann, "2")]).isEmpty)
        guard case .answer(let answer) = poll(&state, ben, after: 7) else {
            Issue.record("no answer")
            return
        }
        #expect(told(answer) == ["1", "2"])
        guard case .parked = poll(&state, ben, after: 7) else {
            Issue.record("delivered twice")
            return
        }
        // Too late: typing is shown for six seconds.
        #expect(state.pass([event(ann, "3")]).count == 1)
        #expect(state.pass([event(ann, "4")]).isEmpty)
        for _ in 0...HubState.heldTickCount { _ = state.advance() }
        guard case .parked = poll(&state, ben, after: 7) else {
            Issue.record("delivered too late")
            return
        }
    }

    @Test("a poll gets the latest events, up to its limit")
    func keepsToLimit() {
        var state = open()
        for waiter in 1...2 { _ = poll(&state, ben, after: 7, limit: waiter, waiter: waiter) }
        let wakes = state.pass(["1", "2", "3"].map { event(ann, $0) })
        #expect(Set(wakes.map { told($0.answer) }) == [["3"], ["2", "3"]])
        #expect(state.pass([event(ann, "4"), event(ann, "5")]).isEmpty)
        guard case .answer(let answer) = poll(&state, ben, after: 7, limit: 1) else {
            Issue.record("no answer")
            return
        }
        #expect(told(answer) == ["5"])
    }

    @Test("a poll ahead of this node keeps its cursor")
    func isAhead() {
        var state = open()
        _ = poll(&state, ben, after: 9)
        let wakes = state.pass([event(ann)])
        guard case .events(_, upTo: cursor(9), _)? = wakes.first?.answer else {
            Issue.record("the cursor went back")
            return
        }
    }

    @Test("a user comes online with the first poll, and goes offline a minute after the last")
    func comesAndGoes() {
        var state = HubState(start: cursor(7))
        _ = state.open(ann, threads: [thread], at: cursor(7))
        _ = poll(&state, ann, after: 7)
        #expect(state.takePresence().came == [ann])
        for _ in 0..<100 { _ = state.advance() }
        _ = poll(&state, ann, after: 7)
        // The wait ends after 100 ticks more; a minute is 240.
        for _ in 0..<(100 + 240) { _ = state.advance() }
        #expect(state.takePresence().isEmpty)
        for _ in 0...1 { _ = state.advance() }
        let went = state.takePresence().went
        #expect(went.map(\.user) == [ann])
        #expect(went.allSatisfy { (60_000...60_500).contains($0.agoMs) }, "\(went)")
        _ = poll(&state, ann, after: 7)
        #expect(state.takePresence().came == [ann])
    }

    // MARK: The queue

    @Test("are published once a second for one user in one thread, and only the last one")
    func coalesces() {
        var queue = PassingQueue()
        queue.add(event(ann, "1"), isTyping: true)
        queue.add(event(ann, "2"), isTyping: true)
        queue.add(event(ben, "3"), isTyping: true)
        queue.add(event(ann, "4"), isTyping: false)
        #expect(queue.take() == [event(ann, "2"), event(ben, "3"), event(ann, "4")])
        queue.add(event(ann, "5"), isTyping: true)
        queue.add(event(ann, "6", in: [ThreadID.make()]), isTyping: true)
        #expect(queue.take().map(\.body) == [event(ann, "6").body])
        for _ in 2..<PassingQueue.spacing { #expect(queue.take().isEmpty) }
        #expect(queue.take() == [event(ann, "5")])
        for _ in 0..<PassingQueue.countMax + 100 { queue.add(event(UserID.make()), isTyping: true) }
        #expect(queue.take().count == PassingQueue.countMax)
    }

    @Test("fit into payloads of less than 8,000 bytes, and unpack to the same events")
    func packs() {
        let many = (0..<250).map { _ in ThreadID.make() }
        let events = (0..<300).map { _ in typing(UserID.make()) } + [event(ann, presence(ann), in: many)]
        let payloads = PassingPayload.pack(events)
        #expect(payloads.allSatisfy { $0.utf8.count <= PassingSeal.textByteCountMax })
        let all = payloads.flatMap { PassingPayload.unpack($0) }
        #expect(Array(all.prefix(300)) == Array(events.prefix(300)))
        #expect(all.dropFirst(300).flatMap(\.threads) == many)
        #expect(all.dropFirst(300).allSatisfy { $0.body == events[300].body })
        #expect(PassingPayload.pack([]).isEmpty)
        #expect(PassingPayload.unpack("").isEmpty)
        let good = typing(ann)
        let line = PassingPayload.pack([good])[0]
        #expect(PassingPayload.unpack("nonsense\nx y z\n\(line)\n\(ann) \(thread)") == [good])
    }

    private func typing(_ user: UserID) -> PassingEvent {
        event(
            user,
            #"{"type":"typing","thread_id":"\#(thread)","at":"2026-11-21T10:14:00.000Z","data":{"user_id" : "\#(user)"}}"#
        )
    }

    private func presence(_ user: UserID, _ rest: String = #""presence" : "online", "last_seen_at" : null"#) -> String {
        #"{"type":"presence.updated","at":"2026-11-21T10:14:00.000Z","data":{"user_id" : "\#(user)", \#(rest)}}"#
    }

    @Test("become a part of answers only as the two types and in the shapes of the contract")
    func shapes() {
        let other = ThreadID.make()
        func isTaken(_ body: String, _ threads: [ThreadID]? = nil) -> Bool {
            !PassingPayload.unpack(PassingPayload.pack([event(ann, body, in: threads)])[0]).isEmpty
        }
        let typed = String(decoding: typing(ann).body.utf8, as: UTF8.self)
        #expect(isTaken(typed))
        #expect(!isTaken(typed, [other]) && !isTaken(typed, [thread, other]))
        #expect(isTaken(presence(ann), [thread, other]))
        #expect(isTaken(presence(ann, #""presence" : null, "last_seen_at" : null"#)))
        #expect(isTaken(presence(ann, #""presence" : "offline", "last_seen_at" : "2026-11-21T10:14:00.000Z""#)))
        let refused = [
            "{}", "[]", "null", "}}]]garbage", #"""#, typed + "x", typed + typed, String(typed.dropLast()),
            presence(ben), presence(ann, #""presence" : "away", "last_seen_at" : null"#),
            presence(ann, #""presence" : "online""#), presence(ann, #""presence" : 1, "last_seen_at" : null"#),
            presence(ann, #""presence" : "online", "last_seen_at" : "soon""#),
            presence(ann, #""presence" : "online", "last_seen_at" : null, "x" : 1"#),
            presence(ann, #""presence" : "online", "presence" : "online", "last_seen_at" : null"#),
            typed.replacing("typing", with: "message.created"), typed.replacing("2026-11-21T", with: ""),
            typed.replacing(#""at""#, with: #""text":"<b>","at""#), typed.replacing("\(ann)", with: "\(ben)"),
            typed.replacing(#"{"user_id""#, with: #"{"text":"FORGED","user_id""#),
            typed.replacing("}", with: String(repeating: "}", count: 40)),
        ]
        for body in refused { #expect(!isTaken(body), "\(body)") }
    }
}
