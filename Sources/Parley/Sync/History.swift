// Fetches what the store lacks: messages of a range, threads that events named, last messages, lists of members.
import Foundation

/// Each thing is fetched once at a time, however many lists want it.
actor History {
    private let store: ClientStore
    private let connection: Connection
    private let live: LiveState
    private var running: [String: Task<Void, any Error>] = [:]

    init(store: ClientStore, connection: Connection, live: LiveState) {
        self.store = store
        self.connection = connection
        self.live = live
    }

    /// Fetches threads that events named, and the newest page of threads whose last message is unknown.
    func repair() async throws {
        for id in try await store.missingThreads() { try await loadThread(id) }
        for id in try await store.threadsWithoutLastMessage() { try await loadNewest(id) }
    }

    /// Fetches the messages of a range. Those at `end` come first.
    func fill(_ id: String, _ range: ClosedRange<Seq>, from end: RangeEnd) async throws {
        try await once("\(id) \(range) \(end)") { [self] in
            while let gap = try await store.gap(id, in: range, at: end) {
                let (before, after) = end == .upper ? (gap.upperBound + 1, nil) : (nil, gap.lowerBound - 1)
                let call = Call<MessagePage>.messages.list(
                    in: ThreadID(id), before: before.map { .seq($0) }, after: after.map { .seq($0) },
                    limit: min(200, gap.count))
                let isStored = try await store.flight { [connection] in
                    try await connection.call(call.raw)
                } store: {
                    try $0.loadMessages(id, page: $1, before: before, after: after, unless: $2)
                }
                guard isStored else { continue }
                // A page that brings nothing new would be fetched for ever.
                guard try await store.gap(id, in: range, at: end) != gap else { return }
            }
        }
    }

    /// The members: from the store, or from the server if the store does not have the list. Nil if the device does not
    /// have the thread.
    func members(of id: ThreadID) async throws -> [Member]? {
        if let members = try await store.members(of: id) { return members }
        guard let thread = try await store.thread(id) else { return nil }
        guard thread.memberCount <= Member.followedMax else {
            return try await connection.call(.threads.members(of: id, limit: 200)).members
        }
        try await loadMembers(id.rawValue)
        return try await store.members(of: id)
    }

    /// Fetches the list of members of a thread whose changes events carry, unless the store has it.
    func loadMembers(_ id: String) async throws {
        try await once("\(id) members") { [self] in
            guard try await store.members(of: ThreadID(id)) == nil else { return }
            while try await !store.flight(
                { [self] in try await allMembers(id) },
                store: { try $0.loadMembers($1, of: id, unless: $2) })
            {}
        }
    }

    private func allMembers(_ id: String) async throws -> [JSONValue] {
        let members = try await connection.all("members") {
            Call<MemberPage>.threads.members(of: ThreadID(id), limit: 200, page: $0).raw
        }
        live.readPresence(members.compactMap { $0["user"] })
        return members
    }

    /// Fetches a message that was changed by a call, so that the store has the change before its event arrives. If the
    /// message cannot be fetched, the change is made all the same, and its event brings it.
    func refresh(_ message: MessageID, in id: ThreadID) async throws {
        do {
            try await store.flight { [connection] in
                try await connection.call(
                    .messages.get(message, in: id).raw)
            } store: { fold, answer, touches in
                try fold.store(answer, in: id.rawValue, unless: touches)
            }
        } catch let error as ParleyError where error.code == .messageNotFound {
            try await store.write { fold in
                guard
                    let seq = try fold.db.seq(
                        "select seq from message where thread_id = ? and id = ?", [id.rawValue, message.rawValue])
                else { return }
                try fold.removeMessage(seq, in: id.rawValue)
            }
        } catch let error as ParleyError where error.isTemporary {
            // See above.
        }
    }

    func loadThread(_ id: String) async throws {
        do {
            while try await !store.flight(
                { [connection] in try await connection.call(.threads.get(ThreadID(id)).raw) },
                store: { [live] fold, thread, touches in
                    if let peer = thread["peer"] { live.readPresence([peer]) }
                    return try fold.loadThread(thread, unless: touches)
                })
            {}
        } catch let error as ParleyError where error.code == .threadNotFound {
            try await store.write { try $0.db.run("delete from missing_thread where id = ?", [id]) }
        }
    }

    private func loadNewest(_ id: String) async throws {
        do {
            while try await !store.flight(
                { [connection] in
                    try await connection.call(
                        .messages.list(in: ThreadID(id), limit: 30).raw)
                }, store: { try $0.loadMessages(id, page: $1, unless: $2) })
            {}
        } catch let error as ParleyError where error.isGone {
            // The event that says why is on its way.
            try await store.write { try $0.db.run("delete from missing_newest where id = ?", [id]) }
        }
    }

    /// Several callers wait for one task. It does not end with the first of them.
    private func once(_ key: String, _ work: @escaping @Sendable () async throws -> Void) async throws {
        if let task = running[key] { return try await task.value }
        let task = Task { try await work() }
        running[key] = task
        defer { running[key] = nil }
        try await task.value
    }
}

enum RangeEnd: Sendable { case lower, upper }

extension ClientStore {
    func missingThreads() async throws -> [String] {
        try await read { try $0.all("select id from missing_thread") }
    }

    /// Threads that the user reads and whose newest message the device does not know.
    func threadsWithoutLastMessage() async throws -> [String] {
        try await read { try $0.all("select id from missing_newest") }
    }

    /// The members who are invited or joined, longest-standing first; nil if the device does not have the list.
    func members(of id: ThreadID) async throws -> [Member]? {
        try await read { db in
            guard try db.one("select 1 from member_list where thread_id = ?", [id.rawValue]) == 1 else { return nil }
            return try db.rows(
                """
                select data from member where thread_id = ? order by json_extract(data, '$.joined_at'), user_id
                """, [id.rawValue]
            ).compactMap { $0.decodeIfReadable(Member.self, "data") }.filter {
                $0.status == .joined || $0.status == .invited
            }
        }
    }

    /// The lowest or highest part of a range that was not fetched; nil if all of it was.
    func gap(_ id: String, in range: ClosedRange<Seq>, at end: RangeEnd) async throws -> ClosedRange<Seq>? {
        let gaps = try await read { try $0.gaps(id, in: range) }
        return end == .lower ? gaps.first : gaps.last
    }
}

extension Member {
    /// In threads of more members than this, no event carries changes of others.
    static let followedMax = 100
}
