// Messages, and which ranges of a thread the device has.
internal import GRDB

extension Fold {
    /// A page of the history: the newest one, or the messages before a seq or after one.
    mutating func loadMessages(_ id: String, page: JSONValue, before: Seq? = nil, after: Seq? = nil) throws {
        guard let thread = try thread(id) else { return }
        let messages = page["messages"]?.array ?? []
        for message in messages { try store(message, in: id) }
        let seqs = messages.compactMap { $0["seq"]?.seq }
        let end = page["end"]?.bool ?? false
        let head = max(page["head"]?.seq ?? 0, thread.head)
        if let after {
            try cover(id, after + 1, end ? head : seqs.max() ?? after)
        } else {
            guard let first = end ? thread.firstVisible : seqs.min() else { return }
            try cover(id, first, before.map { $0 - 1 } ?? head)
        }
    }

    /// Stores a message of the history, an event or an answer, and keeps what only the device knows.
    mutating func store(_ message: JSONValue, in id: String) throws {
        guard let seq = message["seq"]?.seq, let messageID = message["id"]?.string else { return }
        var message = message
        if let stored = try self.message(seq, in: id), stored["id"] == message["id"] {
            message.keepPayload(of: stored)
            message.keepOwnReactions(of: stored)
        } else {
            message.keepOwnReactions(of: .null)
        }
        // An id stands for one message: a restored server may have given it another place.
        try db.run(
            "delete from message where id = ? and (thread_id, seq) is not (?, ?)", [messageID, id, seq.rawValue])
        try db.run(
            """
            insert into message (thread_id, seq, id, data, words, version) values (?, ?, ?, ?, ?, ?)
            on conflict (thread_id, seq) do update
            set id = excluded.id, data = excluded.data, words = excluded.words, version = excluded.version
            """,
            [id, seq.rawValue, messageID, message.text, message["payload"]?["text"]?.string, version])
        // The event may come before the answer of the send.
        try removeSent(messageID, in: id)
        changes.timelines.insert(id)
        changes.threads.insert(id)
    }

    func message(_ seq: Seq, in id: String) throws -> JSONValue? {
        try db.one("select data from message where thread_id = ? and seq = ?", [id, seq.rawValue]).map {
            (text: String) in try JSONValue(stored: text)
        }
    }

    mutating func removeMessage(_ seq: Seq, in id: String) throws {
        try db.run("delete from message where thread_id = ? and seq = ?", [id, seq.rawValue])
        changes.timelines.insert(id)
        changes.threads.insert(id)
    }

    // MARK: Ranges

    /// Records that the device has all messages from `first` to `last` that the user sees. Joins ranges that touch.
    mutating func cover(_ id: String, _ first: Seq, _ last: Seq) throws {
        guard first <= last else { return }
        let bounds = try db.row(
            "select min(first), max(last) from span where thread_id = ? and last >= ? and first <= ?",
            [id, first.rawValue - 1, last.rawValue + 1])
        let from = min(first, bounds?.seq(at: 0) ?? first)
        let to = max(last, bounds?.seq(at: 1) ?? last)
        try db.run(
            "delete from span where thread_id = ? and last >= ? and first <= ?",
            [id, first.rawValue - 1, last.rawValue + 1])
        try db.run("insert into span (thread_id, first, last) values (?, ?, ?)", [id, from.rawValue, to.rawValue])
        changes.timelines.insert(id)
        changes.threads.insert(id)
    }

    /// Deletes what the user has hidden.
    mutating func hide(_ id: String) throws {
        guard let thread = try thread(id), thread.hiddenBefore > 0 else { return }
        try db.run("delete from message where thread_id = ? and seq < ?", [id, thread.hiddenBefore.rawValue])
        try db.run("delete from span where thread_id = ? and last < ?", [id, thread.hiddenBefore.rawValue])
        try db.run(
            "update span set first = ? where thread_id = ? and first < ?",
            [thread.hiddenBefore.rawValue, id, thread.hiddenBefore.rawValue])
        changes.timelines.insert(id)
    }

    /// Whether the client has to fetch the newest page of a thread: the last message is not known.
    mutating func lacksLastMessage(_ id: String) throws -> Bool {
        guard let thread = try thread(id), thread.status == "joined", thread.head >= thread.firstVisible else {
            return false
        }
        guard let first = try db.newestFirst(id, head: thread.head) else { return true }
        guard first > thread.firstVisible else { return false }
        return try db.one("select 1 from message where thread_id = ? and seq >= ? limit 1", [id, first.rawValue]) != 1
    }
}

extension Database {
    /// The first seq of the range that holds the newest message; nil if the newest message is not known.
    func newestFirst(_ id: String, head: Seq) throws -> Seq? {
        try seq(
            "select first from span where thread_id = ? and last >= ? order by first limit 1", [id, head.rawValue])
    }

    /// The parts of a range that were not fetched, ascending.
    func gaps(_ id: String, in range: ClosedRange<Seq>) throws -> [ClosedRange<Seq>] {
        var gaps: [ClosedRange<Seq>] = []
        var next = range.lowerBound
        for span in try rows(
            "select first, last from span where thread_id = ? and last >= ? and first <= ? order by first",
            [id, range.lowerBound.rawValue, range.upperBound.rawValue])
        {
            guard let first = span.seq("first"), let last = span.seq("last") else { continue }
            if first > next { gaps.append(next...first - 1) }
            next = max(next, last + 1)
        }
        if next <= range.upperBound { gaps.append(next...range.upperBound) }
        return gaps
    }
}

extension JSONValue {
    /// Once all devices have a message, the server may show it without its payload. This copy may be the last one.
    fileprivate mutating func keepPayload(of stored: JSONValue) {
        guard self["payload"]?.isNull ?? true, self["deleted_at"]?.isNull ?? true, let payload = stored["payload"]
        else {
            return
        }
        self["payload"] = payload
    }

    /// Only the history says which reactions are the user's own: events, and answers of a send or an edit, do not.
    fileprivate mutating func keepOwnReactions(of stored: JSONValue) {
        guard let reactions = self["reactions"]?.object, !reactions.isEmpty else { return }
        for reaction in reactions where reaction.value["me"] == nil {
            let known = stored["reactions"]?[reaction.key]?["me"]
            self["reactions"]?[reaction.key]?["me"] = known ?? false
        }
    }
}
