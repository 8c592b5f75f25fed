// The reference client: the list of threads as a function of one inbox and the events after it.

/// The inbox that a device shows, kept by events alone. It follows the rules for clients:
///
/// - Counts come from the server: from the inbox, and as absolute numbers with `thread.created`, `settings.updated`, the
///   user's own `receipt.updated`, and `message.deleted` for the user alone. After the last of these, each message of
///   others adds one, and each tombstone of an unread message subtracts one. This needs no stored messages.
/// - The device stores messages of events, of pages, and the last messages of an inbox. It fetches the newest page when it
///   has removed the last message that it knows, and after it joins a thread: no event carries earlier messages.
/// - Pages of the inbox after the first are later than the cursor. Events of the time between are not counted twice.
struct InboxFold: Sendable {
    fileprivate struct Message: Sendable {
        /// As in events: reactions have a count, but not whether the caller is among them.
        var shown: [String: JSON]
        var ownReactions: Set<String> = []
    }

    fileprivate struct Entry: Sendable {
        /// As in the inbox, without `me` and `last_message`.
        var shown: [String: JSON]
        var me: [String: JSON]
        /// By seq.
        var known: [Int: Message] = [:]
        /// From this seq on, `known` has every message that the user sees; nil if the newest messages are missing.
        var knownFrom: Int?
        /// The counts include the messages up to this seq, although their events may still arrive.
        var countedSeq = 0

        subscript(key: String) -> Int { shown[key]?.int ?? 0 }
        var hiddenBefore: Int { me["hidden_before_seq"]?.int ?? 0 }
        var firstVisible: Int { max(1, hiddenBefore) }
        var lastSeq: Int? { knownFrom.flatMap { first in known.keys.filter { $0 >= first }.max() } }
        var isJoined: Bool { me["status"] == "joined" }
    }

    private let user: String
    private var threads: [String: Entry] = [:]
    /// Threads that events named and no page of the inbox had: they have to be fetched.
    private(set) var unknownThreads: Set<String> = []

    init(_ inbox: JSON, of user: String) {
        self.user = user
        add(inbox)
    }

    /// Takes in a page of the inbox.
    mutating func add(_ inbox: JSON) {
        for thread in inbox["threads"].items {
            var entry = Entry(shown: Self.withoutPresence(thread.members), me: thread["me"].members)
            entry.shown["me"] = nil
            entry.shown["last_message"] = nil
            entry.countedSeq = entry["head"]
            let id = thread["id"].string ?? ""
            unknownThreads.remove(id)
            if let stored = threads[id] { (entry.known, entry.knownFrom) = (stored.known, stored.knownFrom) }
            // No message after the last one is visible; none is if there is no last one.
            let last = thread["last_message"]
            let page: JSON = ["messages": .array(last == .null ? [] : [last]), "end": .bool(last == .null)]
            if entry.isJoined { entry.learn(page) }
            entry.hide()
            threads[id] = entry
        }
    }

    /// Takes in the inbox that follows an answer 410. Messages of the threads named by the answer are deleted.
    mutating func reload(_ inbox: JSON, stale: Set<String>) {
        let ids = inbox["threads"].items.compactMap { $0["id"].string }
        threads = threads.filter { ids.contains($0.key) && !stale.contains($0.key) }
        add(inbox)
    }

    // MARK: The inbox

    /// The inbox as `GET /v1/inbox` returns it: the threads, newest activity first, and the unread total.
    var inbox: JSON {
        let shown = threads.values.sorted { left, right in
            (left.shown["last_activity_at"]?.string ?? "", left.shown["id"]?.string ?? "")
                > (right.shown["last_activity_at"]?.string ?? "", right.shown["id"]?.string ?? "")
        }
        let total = threads.values.reduce(0) { $0 + $1["unread_count"] }
        return ["threads": .array(shown.map(\.inbox)), "unread_total": .init(total)]
    }

    /// The same inbox without the content of last messages that a fresh inbox shows without content. Content that is
    /// kept until it is delivered disappears without an event.
    func inbox(without inbox: JSON) -> JSON {
        var fold = self
        for last in inbox["threads"].items.map(\.["last_message"]) where last["payload"] == .null {
            guard let seq = last["seq"].int, last["deleted_at"] == .null else { continue }
            fold.threads[last["thread_id"].string ?? ""]?.known[seq]?.shown["payload"] = .null
        }
        return fold.inbox
    }

    /// A fresh inbox without presence and the cursor, which no event of the log carries.
    static func comparable(_ inbox: JSON) -> JSON {
        let threads = inbox["threads"].items.map { JSON.object(withoutPresence($0.members)) }
        return ["threads": .array(threads), "unread_total": inbox["unread_total"]]
    }

    private static func withoutPresence(_ thread: [String: JSON]) -> [String: JSON] {
        var thread = thread
        if case .object(let peer)? = thread["peer"] {
            thread["peer"] = .object(peer.merging(["presence": .null, "last_seen_at": .null]) { $1 })
        }
        return thread
    }

    /// A thread's last seq; 0 without such a thread.
    func head(of thread: String) -> Int { threads[thread]?["head"] ?? 0 }

    /// The stored messages of a thread, ascending.
    func messages(of thread: String) -> [JSON] {
        (threads[thread]?.known ?? [:]).sorted { $0.key < $1.key }.map(\.value.inbox)
    }

    /// The threads of which messages may be read.
    var joinedThreads: [String] { threads.filter(\.value.isJoined).map(\.key).sorted() }

    // MARK: Missing threads and messages

    /// The thread was fetched, or the user is not in it any more.
    mutating func forgetUnknown(_ thread: String) { unknownThreads.remove(thread) }

    /// Threads whose last message is unknown and has to be fetched.
    var threadsToAsk: [String] {
        threads.filter { _, entry in
            let first = entry.firstVisible
            return entry.isJoined && entry.lastSeq == nil && entry["head"] >= first && entry.knownFrom ?? .max > first
        }.map(\.key).sorted()
    }

    /// Takes in a page of a thread's messages: the newest page, or the messages before a seq or after one.
    mutating func learn(_ page: JSON, of thread: String, before: Int? = nil, after: Int? = nil) {
        threads[thread]?.learn(page, before: before, after: after)
    }

    // MARK: Events

    mutating func apply(_ event: JSON) {
        let data = event["data"]
        let id = event["thread_id"].string ?? ""
        if !id.isEmpty, threads[id] == nil, event["type"] != "thread.created" { unknownThreads.insert(id) }
        switch event["type"].string {
        case "thread.created": threads[id] = created(data)
        case "thread.updated": threads[id]?.update(data)
        case "thread.deleted":
            threads[id] = nil
            unknownThreads.remove(id)
        case "member.updated": apply(member: data, to: id)
        case "message.created": threads[id]?.append(data, to: user)
        case "message.updated": threads[id]?.change(data)
        case "message.deleted": threads[id]?.delete(data, for: user)
        case "reaction.updated": threads[id]?.react(data, user)
        case "receipt.updated" where data["user_id"].string == user:
            threads[id]?.set(["read_seq", "delivered_seq"], countsFrom: data)
        case "receipt.updated":
            // The marks of many members, as others see them. The user's own read mark comes in an event of its own.
            let own = data["receipts"].items.first { $0["user_id"].string == user } ?? .null
            if own != .null { threads[id]?.me["delivered_seq"] = own["delivered_seq"] }
        case "settings.updated":
            threads[id]?.set(
                ["muted_until", "archived", "pinned", "notify", "hidden_before_seq", "custom", "labels"],
                countsFrom: data)
            threads[id]?.hide()
        case "user.updated" where event["thread_id"] != .null: threads[id]?.rename(data)
        case "user.updated":
            // The user's own account. Other people's changes come as one event per thread and apply to that thread only.
            for id in threads.keys { threads[id]?.rename(data) }
        default: break
        }
    }

    private mutating func apply(member: JSON, to id: String) {
        threads[id]?.shown["member_count"] = member["member_count"]
        guard member["user"]["id"].string == user else { return }
        if ["left", "removed"].contains(member["status"]) { return threads[id] = nil }
        threads[id]?.me["role"] = member["role"]
        threads[id]?.me["status"] = member["status"]
    }

    private func created(_ data: JSON) -> Entry {
        var shown = data.members
        shown["members"] = nil
        if case .object(let me)? = shown.removeValue(forKey: "me") {
            return Entry(shown: Self.withoutPresence(shown), me: me, countedSeq: data["head"].int ?? 0)
        }
        // The thread is new, has all its members, and has no messages.
        let members = data["members"].items
        let mine = members.first { $0["user"]["id"].string == user } ?? .null
        let other = members.first { $0["user"]["id"].string != user } ?? .null
        shown["peer"] = data["kind"] == "direct" ? other["user"] : .null
        for key in ["unread_count", "mention_count", "head"] { shown[key] = 0 }
        shown["last_activity_at"] = data["created_at"]
        var entry = Entry(
            shown: shown,
            me: [
                "role": mine["role"], "status": mine["status"], "read_seq": 0, "delivered_seq": 0, "muted_until": .null,
                "archived": false, "pinned": false, "notify": "all", "hidden_before_seq": 0, "custom": .null,
                "labels": [],
                "invited_by": .null,
            ])
        entry.update(data)
        return entry
    }
}

extension InboxFold.Entry {
    fileprivate var inbox: JSON {
        var inbox = shown
        inbox["me"] = .object(me)
        inbox["last_message"] = lastSeq.flatMap { known[$0]?.inbox } ?? .null
        return .object(inbox)
    }

    /// Stores the messages of a page as a GET returns it.
    fileprivate mutating func learn(_ page: JSON, before: Int? = nil, after: Int? = nil) {
        let messages = page["messages"].items
        let isEnd = page["end"] == true
        for message in messages {
            guard let seq = message["seq"].int else { continue }
            let own = message["reactions"].members.filter { $0.value["me"] == true }
            var shown = message.members
            shown["reactions"] = .object(message["reactions"].members.mapValues { ["count": $0["count"]] })
            known[seq] = InboxFold.Message(shown: keepingPayload(shown, seq), ownReactions: Set(own.keys))
        }
        // Joins the page's seqs to those from `knownFrom` on, if none is missing between them.
        let first = after.map { $0 + 1 } ?? (isEnd ? firstVisible : messages.first?["seq"].int ?? .max)
        let isNewest = before == nil && (after == nil || isEnd)
        let last = before.map { $0 - 1 } ?? (isNewest ? .max : messages.last?["seq"].int ?? 0)
        if isNewest || last >= (knownFrom ?? .max) - 1 { knownFrom = min(first, knownFrom ?? .max) }
    }

    /// The server may have forgotten a message's content, once all devices had it. The device's copy may be the last one.
    private func keepingPayload(_ message: [String: JSON], _ seq: Int) -> [String: JSON] {
        guard message["payload"] == .null, message["deleted_at"] == .null, let stored = known[seq]?.shown,
            stored["id"] == message["id"]
        else { return message }
        return message.merging(["payload": stored["payload"] ?? .null]) { $1 }
    }

    /// Removes the messages below `hidden_before_seq`. They have to be fetched again if it goes back.
    fileprivate mutating func hide() {
        known = known.filter { $0.key >= hiddenBefore }
        knownFrom = knownFrom.map { max($0, firstVisible) }
    }

    /// A direct thread has the other member's name and image.
    fileprivate mutating func update(_ thread: JSON) {
        for key in ["kind", "topic", "external_id", "custom", "labels", "retention", "member_count"] {
            shown[key] = thread[key]
        }
        for (key, own) in [("title", "name"), ("image", "profile_image")] {
            shown[key] = thread[key] == .null ? shown["peer"]?[own] ?? .null : thread[key]
        }
    }

    /// Applies a person's new name, image or status.
    fileprivate mutating func rename(_ user: JSON) {
        func renamed(_ person: JSON?) -> JSON? {
            guard case .object(let shown)? = person, shown["id"] == user["id"] else { return person }
            return .object(shown.reduce(into: [:]) { $0[$1.key] = user[$1.key] })
        }
        me["invited_by"] = renamed(me["invited_by"])
        for (seq, message) in known { known[seq]?.shown["sender"] = renamed(message.shown["sender"]) }
        guard shown["peer"]?["id"] == user["id"] else { return }
        shown["peer"] = renamed(shown["peer"])
        shown["title"] = user["name"]
        shown["image"] = user["profile_image"]
    }

    fileprivate mutating func set(_ keys: [String], countsFrom data: JSON) {
        for key in keys { me[key] = data[key] }
        for key in ["unread_count", "mention_count"] { shown[key] = data[key] }
        // Every later message is counted.
        countedSeq = 0
    }

    fileprivate mutating func append(_ message: JSON, to user: String) {
        guard let seq = message["seq"].int else { return }
        let isStored = known[seq]?.shown["id"] == message["id"]
        known[seq] = InboxFold.Message(
            shown: keepingPayload(message.members, seq), ownReactions: isStored ? known[seq]?.ownReactions ?? [] : [])
        if seq >= (knownFrom ?? seq) - 1 { knownFrom = min(seq, knownFrom ?? seq) }
        guard seq > countedSeq else { return }
        if seq > self["head"] {
            shown["head"] = message["seq"]
            shown["last_activity_at"] = message["timestamp"]
        }
        switch message["sender"]["id"].string {
        case user:
            // Sending a message marks everything as read.
            me["read_seq"] = message["seq"]
            me["delivered_seq"] = message["seq"]
            set([], countsFrom: ["unread_count": 0, "mention_count": 0] as JSON)
        // The service's own messages say who did what, and do not count.
        case nil where message["payload"] == .null || message["payload"]["by"] != .null: break
        default:
            // A message withdrawn meanwhile arrives as a tombstone. It counts, too: its message.deleted is still to
            // come.
            shown["unread_count"] = .init(self["unread_count"] + 1)
            if message["mentions"].items.contains(.string(user)) {
                shown["mention_count"] = .init(self["mention_count"] + 1)
            }
        }
    }

    fileprivate mutating func change(_ message: JSON) {
        guard let seq = message["seq"].int else { return }
        let shown = keepingPayload(message.members, seq)
        known[seq]?.shown = shown
    }

    fileprivate mutating func delete(_ message: JSON, for user: String) {
        guard let seq = message["seq"].int else { return }
        if message["for"] == "me" {
            known[seq] = nil
            return set([], countsFrom: message)
        }
        known[seq]?.shown = message.members
        known[seq]?.ownReactions = []
        let isUnread = seq > max(me["read_seq"]?.int ?? 0, hiddenBefore - 1)
        if isUnread, let sender = message["sender"]["id"].string, sender != user {
            shown["unread_count"] = .init(max(0, self["unread_count"] - 1))
        }
    }

    fileprivate mutating func react(_ reaction: JSON, _ user: String) {
        guard let seq = reaction["seq"].int, let emoji = reaction["emoji"].string, var message = known[seq] else {
            return
        }
        var counts = message.shown["reactions"]?.members ?? [:]
        counts[emoji] = reaction["count"] == 0 ? nil : ["count": reaction["count"]]
        message.shown["reactions"] = .object(counts)
        if reaction["user_id"].string == user {
            if reaction["put"] == true {
                message.ownReactions.insert(emoji)
            } else {
                message.ownReactions.remove(emoji)
            }
        }
        known[seq] = message
    }
}

extension InboxFold.Message {
    fileprivate var inbox: JSON {
        let counts = shown["reactions"]?.members ?? [:]
        var inbox = shown
        inbox["reactions"] = .object(
            counts.reduce(into: [:]) { reactions, reaction in
                let isOwn = ownReactions.contains(reaction.key)
                reactions[reaction.key] = ["count": reaction.value["count"], "me": .bool(isOwn)]
            })
        return .object(inbox)
    }
}

extension JSON {
    /// An object's members; none for anything else.
    fileprivate var members: [String: JSON] { if case .object(let members) = self { members } else { [:] } }
}
