// Events of the sync call, each as the client guide says.
import Foundation
internal import GRDB

extension Fold {
    /// Applies events in their order. Unknown types change nothing.
    mutating func apply(_ events: [JSONValue]) throws {
        for event in events { try apply(event) }
    }

    private mutating func apply(_ event: JSONValue) throws {
        guard let type = event["type"]?.string, let data = event["data"], case .object = data else { return }
        guard let id = event["thread_id"]?.string else { return try applyToAccount(type, data) }
        if type == "thread.created" { return try createThread(id, data) }
        guard Self.threadTypes.contains(type) else { return }
        touch(type, id, data)
        // The thread may be unknown or left: the message was sent all the same.
        if type == "message.created", let message = data["id"]?.string { try removeSent(message, in: id) }
        guard try thread(id) != nil else {
            if type == "thread.deleted" { return }
            return try db.run("insert or ignore into missing_thread (id) values (?)", [id])
        }
        switch type {
        case "thread.updated": try updateThread(id, data)
        case "thread.deleted": try removeThread(id)
        case "member.updated": try updateMember(id, data)
        case "message.created": try createMessage(id, data)
        case "message.updated": try updateMessage(id, data)
        case "message.deleted": try deleteMessage(id, data)
        case "reaction.updated": try updateReaction(id, data)
        case "receipt.updated": try updateReceipts(id, data)
        case "settings.updated": try updateSettings(id, data)
        case "user.updated": try updateUser(id, data)
        default: break
        }
    }

    private static let threadTypes: Set = [
        "thread.updated", "thread.deleted", "member.updated", "message.created", "message.updated", "message.deleted",
        "reaction.updated", "receipt.updated", "settings.updated", "user.updated",
    ]

    private mutating func touch(_ type: String, _ id: String, _ data: JSONValue) {
        switch type {
        case "message.created", "message.updated", "message.deleted", "reaction.updated":
            if let seq = data["seq"]?.seq { touches.messages[id, default: []].insert(seq) }
        case "member.updated", "receipt.updated":
            touches.members.insert(id)
            touches.threads.insert(id)
        case "user.updated":
            touches.resets.insert(id)  // Any message may show the person.
        default:
            touches.threads.insert(id)
        }
    }

    private mutating func applyToAccount(_ type: String, _ data: JSONValue) throws {
        switch type {
        case "user.updated":
            var account = try JSONValue(stored: try db.value("account") ?? "{}")
            account.merge(data)
            try db.setValue("account", account.text)
            changes.account = true
            touches.account = true
            try updateUserEverywhere(data)
        case "settings.updated":
            guard let user = data["block"]?["user_id"]?.string else { return }
            let stored = try JSONValue(stored: try db.value("blocked") ?? "[]").array ?? []
            var blocked = stored.filter { $0.string != user }
            if data["block"]?["blocked"]?.bool == true { blocked.append(.string(user)) }
            try db.setValue("blocked", JSONValue.array(blocked).text)
            changes.account = true
            touches.account = true
        default: break
        }
    }

    // MARK: Threads

    private mutating func createThread(_ id: String, _ data: JSONValue) throws {
        // Messages that answers of calls have brought already stay: the thread is new to the user, not to the device.
        for table in ["member_list", "member"] { try db.run("delete from \(table) where thread_id = ?", [id]) }
        try db.run("delete from missing_thread where id = ?", [id])
        touches.resets.insert(id)
        changes.timelines.insert(id)
        changes.members.insert(id)
        var thread = ThreadState(data: data, counted: data["head"]?.seq ?? 0)
        let members = data["members"]?.array ?? []
        thread["members"] = nil
        thread["peer"] = data["peer"]?.withoutPresence
        if data["me"] == nil {  // A new thread, with all its members and no messages.
            let own = members.first { $0["user"]?["id"]?.string == userID }
            let other = members.first { $0["user"]?["id"]?.string != userID }
            if data["kind"]?.string == "direct" { thread["peer"] = other?["user"]?.withoutPresence }
            thread.data.merge([
                "unread_count": 0, "mention_count": 0, "head": 0, "last_activity_at": data["created_at"] ?? .null,
                "me": [
                    "role": own?["role"] ?? .null, "status": own?["status"] ?? .null, "read_seq": 0,
                    "delivered_seq": 0, "muted_until": .null, "archived": false, "pinned": false,
                    "notify": "all", "hidden_before_seq": 0, "custom": .null, "labels": [],
                ],
            ])
            thread.takeDescription(data)
        }
        setThread(id, thread)
        guard !members.isEmpty else { return }
        try loadMembers(members, of: id)
    }

    private mutating func updateThread(_ id: String, _ data: JSONValue) throws {
        try change(id) { $0.takeDescription(data) }
    }

    private mutating func updateMember(_ id: String, _ data: JSONValue) throws {
        try change(id) { $0["member_count"] = data["member_count"] }
        // No event reports further changes in a thread of this size.
        if data["member_count"]?.int ?? 0 > Member.followedMax { try forgetMembers(of: id) }
        if try hasMembers(of: id) {
            var member = data
            member["member_count"] = nil
            try setMember(member, of: id)
        }
        guard data["user"]?["id"]?.string == userID else { return }
        if ["left", "removed"].contains(data["status"]?.string ?? "") { return try removeThread(id) }
        try change(id) { $0.setMe(["role": data["role"] ?? .null, "status": data["status"] ?? .null]) }
    }

    // MARK: Messages

    private mutating func createMessage(_ id: String, _ data: JSONValue) throws {
        guard let seq = data["seq"]?.seq, let thread = try thread(id) else { return }
        try store(data, in: id)
        try cover(id, seq, seq)
        let sender = data["sender"]?["id"]?.string
        try moveMarks(id, ofSenderOf: data)
        guard seq > thread.counted else { return }
        let userID = userID
        let isMention = data["mentions"]?.array?.contains(.string(userID)) ?? false
        try change(id) { thread in
            if seq > thread.head {
                thread["head"] = .init(seq)
                thread["last_activity_at"] = data["timestamp"]
            }
            if sender == userID {
                thread.setMe(["read_seq": .init(seq), "delivered_seq": .init(seq)])
                thread.takeCounts(["unread_count": 0, "mention_count": 0])
            } else if sender != nil || Self.isOfHostApp(data) {
                thread.add("unread_count", 1)
                if isMention { thread.add("mention_count", 1) }
            }
        }
    }

    /// Whether a message without a sender is the host app's, which counts like any other. The service's own say who did
    /// what.
    private static func isOfHostApp(_ message: JSONValue) -> Bool {
        guard case .object(let payload)? = message["payload"] else { return false }
        let keys = payload.map(\.key)
        return !keys.contains("action") || !keys.contains("by")
    }

    private mutating func updateMessage(_ id: String, _ data: JSONValue) throws {
        guard let seq = data["seq"]?.seq, try message(seq, in: id) != nil else { return }
        try store(data, in: id)
    }

    private mutating func deleteMessage(_ id: String, _ data: JSONValue) throws {
        guard let seq = data["seq"]?.seq else { return }
        if data["for"]?.string == "me" {
            try removeMessage(seq, in: id)
            return try change(id) { $0.takeCounts(data) }
        }
        if try message(seq, in: id) != nil { try store(data, in: id) }
        guard let sender = data["sender"]?["id"]?.string, sender != userID else { return }
        try change(id) { thread in
            guard seq > thread.readSeq, seq >= thread.hiddenBefore else { return }
            thread.add("unread_count", -1)
        }
    }

    private mutating func updateReaction(_ id: String, _ data: JSONValue) throws {
        guard let seq = data["seq"]?.seq, let emoji = data["emoji"]?.string, var message = try message(seq, in: id)
        else { return }
        let known = message["reactions"]?[emoji]
        let isOwn = data["user_id"]?.string == userID ? data["put"] ?? false : known?["me"] ?? false
        let count = data["count"]?.int ?? 0
        if message["reactions"] == nil { message["reactions"] = [:] }
        message["reactions"]?[emoji] = count > 0 ? ["count": .init(count), "me": isOwn] : nil
        try store(message, in: id)
    }

    // MARK: Marks and settings

    private mutating func updateReceipts(_ id: String, _ data: JSONValue) throws {
        let several = data["receipts"]?.array
        let receipts = several ?? [data]
        for receipt in receipts { try moveMarks(id, receipt) }
        guard let own = receipts.first(where: { $0["user_id"]?.string == userID }) else { return }
        let delivered = own["delivered_seq"] ?? 0
        // As others see the marks: the user's own read mark comes in an event of its own.
        guard several == nil else { return try change(id) { $0.setMe(["delivered_seq": delivered]) } }
        try change(id) { thread in
            thread.setMe(["read_seq": own["read_seq"] ?? 0, "delivered_seq": delivered])
            thread.takeCounts(own)
        }
        try db.run("delete from mark where thread_id = ? and read_seq <= ?", [id, own["read_seq"]?.int ?? 0])
    }

    /// Sending marks everything before as read, and leaves the times of the marks.
    mutating func moveMarks(_ id: String, ofSenderOf message: JSONValue) throws {
        guard let sender = message["sender"]?["id"], let seq = message["seq"] else { return }
        try moveMarks(id, ["user_id": sender, "read_seq": seq, "delivered_seq": seq])
    }

    /// Moves a member's marks, which never go back.
    private mutating func moveMarks(_ id: String, _ marks: JSONValue) throws {
        guard let user = marks["user_id"]?.string, var member = try member(user, of: id) else { return }
        var hasMoved = false
        for kind in ["read", "delivered"] {
            guard let seq = marks[kind + "_seq"]?.seq else { continue }
            let known = member[kind + "_seq"]?.seq ?? 0
            // A message moves its sender's mark and brings no time. A receipt made at that moment follows with the time.
            let isLater = (marks[kind + "_at"]?.string ?? "") > (member[kind + "_at"]?.string ?? "")
            guard seq > known || seq == known && isLater else { continue }
            for key in [kind + "_seq", kind + "_at"] where marks[key] != nil { member[key] = marks[key] }
            hasMoved = true
        }
        if hasMoved { try setMember(member, of: id) }
    }

    mutating func updateSettings(_ id: String, _ data: JSONValue) throws {
        let keys = ["muted_until", "archived", "pinned", "notify", "hidden_before_seq", "custom", "labels"]
        let hiddenBefore = try thread(id)?.hiddenBefore
        try change(id) { thread in
            thread.setMe(.object(keys.map { .init($0, data[$0] ?? .null) }))
            thread.takeCounts(data)
        }
        // The user sees other messages now than a page that is on its way has.
        if try thread(id)?.hiddenBefore != hiddenBefore { touches.resets.insert(id) }
        try hide(id)
    }

    // MARK: People

    /// Shows the user's new profile in all threads. The server sends no further event for a thread where the user is alone.
    mutating func updateUserEverywhere(_ user: JSONValue) throws {
        for id in try threadIDs() {
            touches.resets.insert(id)
            try updateUser(id, user)
        }
    }

    mutating func updateUser(_ id: String, _ user: JSONValue) throws {
        guard let userID = user["id"]?.string else { return }
        for text: String in try db.all("select data from message where thread_id = ? and sender = ?", [id, userID]) {
            var message = try JSONValue(stored: text)
            let before = message["sender"]
            // A message shows the name and the picture, and most changes are of the status.
            guard message["sender"]?.takeProfile(user) == true, message["sender"] != before else { continue }
            try store(message, in: id)
        }
        if var member = try member(userID, of: id), member["user"]?.takeProfile(user) == true {
            try setMember(member, of: id)
        }
        try change(id) { thread in
            _ = thread.data["me"]?["invited_by"]?.takeProfile(user)
            guard thread.data["peer"]?.takeProfile(user) == true else { return }
            thread["title"] = user["name"]
            thread["image"] = user["profile_image"]
        }
    }
}

extension ThreadState {
    /// Takes title, picture, retention and number of members. A direct thread has the name and picture of its peer.
    mutating func takeDescription(_ source: JSONValue) {
        self["retention"] = source["retention"]
        self["topic"] = source["topic"] ?? .null
        self["member_count"] = source["member_count"]
        for key in ["external_id", "custom", "labels"] { self[key] = source[key] }
        self["title"] = source["title"]?.unlessNull ?? self["peer"]?["name"] ?? .null
        self["image"] = source["image"]?.unlessNull ?? self["peer"]?["profile_image"] ?? .null
    }

    /// Adds to a count, which is never below 0.
    mutating func add(_ key: String, _ number: Int) {
        data[key] = .init(max(0, (data[key]?.int ?? 0) + number))
    }
}

extension JSONValue {
    /// Takes the fields of a person that this value shows, if it is that person. Returns whether it is.
    fileprivate mutating func takeProfile(_ user: JSONValue) -> Bool {
        guard case .object(let fields) = self, self["id"] == user["id"] else { return false }
        for key in fields.map(\.key) where key != "presence" && key != "last_seen_at" {
            if let value = user[key] { self[key] = value }
        }
        return true
    }
}
