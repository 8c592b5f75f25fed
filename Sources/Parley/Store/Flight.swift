// Calls and events race: a call may read a message before an edit, and its answer may arrive after the edit's event. So
// each call whose answer is stored learns what events changed while it was on its way, and does not overwrite that.

/// What events changed.
struct Touches: Sendable {
    /// Messages by thread.
    var messages: [String: Set<Seq>] = [:]
    /// Threads whose members changed.
    var members: Set<String> = []
    /// Threads whose title, settings or own membership changed.
    var threads: Set<String> = []
    /// Threads that were removed, or loaded as a whole.
    var resets: Set<String> = []
    var account = false
    /// Everything was loaded again, or is another account's: no call that was on its way counts.
    var all = false

    var isEmpty: Bool { messages.isEmpty && members.isEmpty && threads.isEmpty && resets.isEmpty && !account && !all }

    /// Whether a thread was removed, or loaded as a whole.
    func isReset(_ id: String) -> Bool { all || resets.contains(id) }

    mutating func formUnion(_ other: Touches) {
        messages.merge(other.messages) { $0.union($1) }
        members.formUnion(other.members)
        threads.formUnion(other.threads)
        resets.formUnion(other.resets)
        account = account || other.account
        all = all || other.all
    }
}

/// The calls that are on their way.
final class Flights: Sendable {
    private struct State {
        var open: [Int: Touches] = [:]
        var next = 0
    }

    private let state = Locked(State())

    func begin() -> Int {
        state.withLock { state in
            state.next += 1
            state.open[state.next] = Touches()
            return state.next
        }
    }

    func touches(_ flight: Int) -> Touches { state.withLock { $0.open[flight] ?? Touches() } }

    func end(_ flight: Int) { state.withLock { $0.open[flight] = nil } }

    func record(_ touches: Touches) {
        guard !touches.isEmpty else { return }
        state.withLock { state in
            for flight in state.open.keys { state.open[flight]?.formUnion(touches) }
        }
    }
}

extension ClientStore {
    /// Makes a call, then stores its answer in one transaction that knows what events changed meanwhile.
    func flight<Answer: Sendable, Value: Sendable>(
        _ call: @Sendable () async throws -> Answer,
        store: @escaping @Sendable (inout Fold, Answer, Touches) throws -> Value
    ) async throws -> Value {
        let flight = flights.begin()
        defer { flights.end(flight) }
        let answer = try await call()
        return try await write { [flights] fold in try store(&fold, answer, flights.touches(flight)) }
    }
}

extension Fold {
    /// Stores an answer that shows one message, unless an event has changed that message since.
    mutating func store(_ message: JSONValue, in id: String, unless touches: Touches) throws {
        guard let seq = message["seq"]?.seq, try thread(id) != nil, !touches.isReset(id),
            touches.messages[id]?.contains(seq) != true
        else { return }
        try store(message, in: id)
    }

    /// Stores a thread that the device does not have. Returns false if the thread has to be fetched again: it has changed
    /// since, and the user may have left it.
    mutating func loadThread(_ thread: JSONValue, unless touches: Touches) throws -> Bool {
        guard let id = thread["id"]?.string, try self.thread(id) == nil else { return true }
        guard !touches.concernInbox(ThreadID(id)) else { return false }
        try loadThreads([thread])
        return true
    }

    /// Stores all members of a thread. Returns false if they have to be fetched again, because one of them has changed.
    mutating func loadMembers(_ members: [JSONValue], of id: String, unless touches: Touches) throws -> Bool {
        guard !touches.members.contains(id), !touches.isReset(id) else { return false }
        try loadMembers(members, of: id)
        for seq in touches.messages[id] ?? [] {
            if let message = try message(seq, in: id) { try moveMarks(id, ofSenderOf: message) }
        }
        return true
    }

    /// Stores a page of the history, except messages that events have changed since. Returns false if the page has to be
    /// fetched again: such a message is not in the store.
    mutating func loadMessages(
        _ id: String, page: JSONValue, before: Seq? = nil, after: Seq? = nil, unless touches: Touches
    ) throws -> Bool {
        guard !touches.isReset(id) else { return false }
        let touched = touches.messages[id] ?? []
        guard !touched.isEmpty, case .array(let messages)? = page["messages"] else {
            try loadMessages(id, page: page, before: before, after: after)
            return true
        }
        var page = page
        var kept: [JSONValue] = []
        for message in messages {
            guard let seq = message["seq"]?.seq, touched.contains(seq) else {
                kept.append(message)
                continue
            }
            guard let stored = try self.message(seq, in: id) else { return false }
            kept.append(stored)
        }
        page["messages"] = .array(kept)
        try loadMessages(id, page: page, before: before, after: after)
        return true
    }
}
