// The state of a device as a function of an inbox and the events after it. docs/client-guide.md has the rules, and
// Tests/ClientVectors histories with what a client must show. One Fold lives as long as one transaction.
//
// This file has the account, threads and lists of members as calls return them. Fold+events.swift has the events, and
// Fold+messages.swift the messages.
import Foundation
internal import GRDB

struct Fold {
    let db: Database
    let version: Int64
    private(set) var userID: String
    var changes = Changes()
    /// What events and reloads changed, for the calls that are on their way.
    var touches = Touches()
    /// Threads that this transaction has read. `finish` writes those that differ.
    private var threads: [String: ThreadState?] = [:]
    private var changed: Set<String> = []

    init(_ db: Database, version: Int64) throws {
        self.db = db
        self.version = version
        userID = try db.value("user_id") ?? ""
    }

    /// Writes what the transaction changed in threads.
    mutating func finish() throws {
        for id in changed {
            guard let thread = threads[id] ?? nil else { continue }
            try db.run(
                "insert or replace into thread (id, data, counted, version) values (?, ?, ?, ?)",
                [id, thread.data.text, thread.counted.rawValue, version])
        }
        for id in changed.union(changes.timelines) {
            if try lacksLastMessage(id) {
                try db.run("insert or ignore into missing_newest (id) values (?)", [id])
            } else {
                try db.run("delete from missing_newest where id = ?", [id])
            }
        }
        changed = []
        try db.setValue("version", String(version))
    }

    // MARK: Threads

    /// A thread as this transaction has it.
    mutating func thread(_ id: String) throws -> ThreadState? {
        if let known = threads[id] { return known }
        let row = try db.row("select data, counted from thread where id = ?", [id])
        let thread = try row.map {
            ThreadState(data: try JSONValue(stored: $0["data"]), counted: $0.seq("counted") ?? 0)
        }
        threads[id] = .some(thread)
        return thread
    }

    mutating func setThread(_ id: String, _ thread: ThreadState) {
        threads[id] = .some(thread)
        changed.insert(id)
        changes.threads.insert(id)
    }

    /// The threads that the device has, also those that this transaction has not written yet.
    func threadIDs() throws -> Set<String> {
        Set(try db.all("select id from thread")).union(changed)
    }

    /// Changes a thread that the device has.
    mutating func change(_ id: String, _ body: (inout ThreadState) -> Void) throws {
        guard var thread = try thread(id) else { return }
        body(&thread)
        setThread(id, thread)
    }

    mutating func removeThread(_ id: String) throws {
        threads[id] = .some(nil)
        changed.remove(id)
        for table in ["message", "span", "member_list", "member", "mark"] {
            try db.run("delete from \(table) where thread_id = ?", [id])
        }
        for table in ["thread", "missing_newest"] { try db.run("delete from \(table) where id = ?", [id]) }
        touches.resets.insert(id)
        changes.threads.insert(id)
        changes.timelines.insert(id)
        changes.members.insert(id)
    }

    // MARK: Calls

    /// The own profile, and the people whom the user has blocked.
    mutating func loadAccount(_ user: JSONValue, blocked: [String]) throws {
        if userID.isEmpty, let id = user["id"]?.string {  // The store is newer than the token.
            userID = id
            try db.setValue("user_id", id)
        }
        try setAccount(user)
        try db.setValue("blocked", JSONValue.array(blocked.map(JSONValue.string)).text)
    }

    /// The own profile, as a call returns it. A new name or picture is shown in all threads at once: the event that brings
    /// it may be one of those that the log no longer has.
    mutating func setAccount(_ user: JSONValue) throws {
        let before = try db.value("account").map { try JSONValue(stored: $0) }
        if let before, ["name", "profile_image", "status_text", "custom"].contains(where: { before[$0] != user[$0] }) {
            try updateUserEverywhere(user)
        }
        try db.setValue("account", user.text)
        changes.account = true
    }

    /// All threads of an inbox, at the first start or after a 410. The messages of `stale` threads are deleted.
    mutating func loadInbox(_ loaded: [JSONValue], stale: Set<String> = []) throws {
        let kept = Set(loaded.compactMap { $0["id"]?.string }).subtracting(stale)
        for id in try threadIDs() where !kept.contains(id) { try removeThread(id) }
        try loadThreads(loaded)
        touches.all = true
        changes.all = true
    }

    /// Threads of a later page, or one thread: they are later than the cursor, so events may repeat what they have.
    mutating func loadThreads(_ loaded: [JSONValue]) throws {
        for var data in loaded {
            guard let id = data["id"]?.string else { continue }
            let last = data["last_message"]?.unlessNull
            data["last_message"] = nil
            data["peer"] = data["peer"]?.withoutPresence
            let thread = ThreadState(data: data, counted: data["head"]?.seq ?? 0)
            setThread(id, thread)
            touches.resets.insert(id)
            try db.run("delete from missing_thread where id = ?", [id])
            try hide(id)
            guard thread.status == "joined" else { continue }
            // No message after the last one is visible; none is if there is no last one.
            if let last {
                try store(last, in: id)
                try cover(id, last["seq"]?.seq ?? thread.head, max(thread.head, last["seq"]?.seq ?? 0))
            } else {
                try cover(id, thread.firstVisible, thread.head)
            }
        }
    }

    /// All members of a thread. Events keep the list from now on.
    mutating func loadMembers(_ members: [JSONValue], of id: String) throws {
        guard try thread(id) != nil else { return }
        try db.run("delete from member where thread_id = ?", [id])
        try db.run("insert or replace into member_list (thread_id) values (?)", [id])
        for member in members { try setMember(member, of: id) }
        changes.members.insert(id)
    }

    // MARK: Members

    mutating func forgetMembers(of id: String) throws {
        for table in ["member_list", "member"] { try db.run("delete from \(table) where thread_id = ?", [id]) }
        changes.members.insert(id)
    }

    func hasMembers(of id: String) throws -> Bool {
        try db.one("select 1 from member_list where thread_id = ?", [id]) == 1
    }

    func member(_ user: String, of id: String) throws -> JSONValue? {
        try db.one("select data from member where thread_id = ? and user_id = ?", [id, user]).map {
            (text: String) in try JSONValue(stored: text)
        }
    }

    mutating func setMember(_ member: JSONValue, of id: String) throws {
        guard let user = member["user"]?["id"]?.string else { return }
        var member = member
        member["user"] = member["user"]?.withoutPresence
        try db.run(
            "insert or replace into member (thread_id, user_id, data, version) values (?, ?, ?, ?)",
            [id, user, member.text, version])
        changes.members.insert(id)
        changes.timelines.insert(id)  // Rows show who has read a message.
    }
}

/// A thread as the inbox has it, without its last message.
struct ThreadState {
    var data: JSONValue
    /// The counts include the messages up to this seq, although their events may still arrive.
    var counted: Seq

    var head: Seq { data["head"]?.seq ?? 0 }
    var status: String { data["me"]?["status"]?.string ?? "" }
    var readSeq: Seq { data["me"]?["read_seq"]?.seq ?? 0 }
    var hiddenBefore: Seq { data["me"]?["hidden_before_seq"]?.seq ?? 0 }
    var firstVisible: Seq { max(1, hiddenBefore) }

    subscript(key: String) -> JSONValue? {
        get { data[key] }
        set { data[key] = newValue }
    }

    /// The user's own part of the thread.
    mutating func setMe(_ values: JSONValue) {
        data["me"]?.merge(values)
    }

    /// Takes absolute counts. Every later message is counted.
    mutating func takeCounts(_ source: JSONValue) {
        for key in ["unread_count", "mention_count"] { data[key] = source[key] ?? 0 }
        counted = 0
    }
}

extension JSONValue {
    /// A person without presence, which is shown and not stored.
    var withoutPresence: JSONValue {
        guard case .object = self else { return self }
        var person = self
        for key in ["presence", "last_seen_at"] where person[key] != nil { person[key] = .null }
        return person
    }
}
