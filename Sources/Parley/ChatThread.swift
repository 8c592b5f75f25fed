// One thread as an app sees it: what it shows, and what the user does in it.
import Foundation
internal import GRDB

/// A thread of the user: a handle that costs nothing and is always up to date.
///
/// Calls that change something return when the store has the change, so a list shows it at once.
public struct ChatThread: Sendable, Identifiable {
    /// The id of the thread.
    public let id: ThreadID
    let parts: Parts

    // MARK: What it shows

    /// The thread's row of the inbox; nil if the user has no such thread.
    public var summary: LiveValue<InboxRow?> {
        let (id, parts) = (id.rawValue, parts)
        return LiveValue(hub: parts.store.changes) {
            $0.all || $0.threads.contains(id) || !$0.presence.isEmpty
        } fetch: {
            try await parts.store.read { try InboxQuery.row($0, id, presence: parts.live.presence) }
        }
    }

    /// The messages around a place.
    public func timeline(around anchor: TimelineAnchor = .firstUnread) -> Timeline {
        Timeline(id, anchor: anchor, parts: parts)
    }

    /// The members who are invited or joined, longest-standing first. They are loaded when a reader first asks.
    ///
    /// Nobody receives changes of threads of more than 100 members. There the list has the first 200 members at the
    /// time at which it is opened; `call(.threads.members(of:page:))` reads more.
    public func members() -> LiveList<Member> {
        let (id, parts) = (id, parts)
        let filler = Filler(thread: id, parts: parts)
        return LiveList(hub: parts.store.changes) {
            $0.all || $0.members.contains(id.rawValue)
        } fetch: { known in
            do {
                return try await parts.history.members(of: id) ?? []
            } catch let error as ParleyError where error.kind != .closed {
                guard error.isTemporary else { return known }
                filler.start("list") {
                    _ = try await parts.history.members(of: id)
                    parts.store.changes.publish(Changes(members: [id.rawValue]))
                }
                return known
            }
        }
    }

    /// The people who are typing, by id. Each is shown for 6 s after the last sign.
    public var typing: LiveValue<[UserID]> {
        let (id, live, hub) = (id.rawValue, parts.live, parts.store.changes)
        return LiveValue(hub: hub) {
            $0.all || $0.typing.contains(id)
        } fetch: {
            let (users, until) = live.typing(in: id)
            if let until { hub.publish(Changes(typing: [id]), at: until) }
            return users.map { UserID($0) }
        }
    }

    /// The messages of this thread that are not sent yet.
    public func outbox() -> LiveList<OutgoingMessage> { parts.outbox.list(id) }

    // MARK: Messages

    /// Puts a message into the outbox. When this returns, the message is stored and will be sent, also after a restart.
    @discardableResult
    public func send(
        _ content: MessageContent, attachments: [OutgoingFile] = [], replyTo: MessageID? = nil, mentions: [UserID] = [],
        expiresIn: Duration? = nil
    ) async throws -> OutgoingMessage {
        try await parts.outbox.add(
            content, attachments, to: id, replyTo: replyTo, mentions: mentions, expiresIn: expiresIn)
    }

    /// Replaces the text of an own message. Its attachments stay.
    public func edit(_ message: MessageID, text: String) async throws {
        let payload = try await payload(of: message).with(text: text)
        try await change(.messages.edit(message, in: id, payload: payload).raw) { [id] fold, answer, touches in
            try fold.store(answer, in: id.rawValue, unless: touches)
        }
    }

    /// Deletes a message, for everyone or only for this user.
    public func delete(_ message: MessageID, for audience: MessageCalls.Audience) async throws {
        try await parts.connection.call(.messages.delete(message, in: id, for: audience))
        try await parts.history.refresh(message, in: id)
    }

    /// Adds the user's reaction with an emoji.
    public func react(_ emoji: String, to message: MessageID) async throws {
        try await parts.connection.call(.messages.react(emoji, to: message, in: id))
        try await parts.history.refresh(message, in: id)
    }

    /// Removes the user's reaction with an emoji.
    public func unreact(_ emoji: String, to message: MessageID) async throws {
        try await parts.connection.call(.messages.unreact(emoji, to: message, in: id))
        try await parts.history.refresh(message, in: id)
    }

    private func payload(of message: MessageID) async throws -> Payload? {
        let stored = try await parts.store.read { db in
            try db.row("select data from message where id = ?", [message.rawValue]).map {
                try $0.decode(Message.self, "data")
            }
        }
        if let payload = stored?.payload { return payload }
        return try await parts.connection.call(.messages.get(message, in: id)).payload
    }

    // MARK: Marks

    /// Marks everything up to a seq as read. Counts change at once, and the server learns it as soon as it answers.
    public func markRead(through seq: Seq) async throws {
        try await parts.store.write { [id] in try $0.setMark(seq, in: id) }
    }

    /// Marks a message and all after it as unread, for this user only.
    public func markUnread(from seq: Seq) async throws {
        let (id, parts) = (id, parts)
        try await parts.marks.inOrder {
            try await parts.store.flight {
                try await parts.connection.call(.receipts.markUnread(from: seq, in: id))
            } store: { fold, _, touches in
                try fold.showUnread(from: seq, in: id, unless: touches)
            }
        }
    }

    /// Tells the others that the user is typing. Call it while the user types, at most every 3 s.
    public func sendTyping() async throws {
        try await parts.connection.call(.receipts.typing(in: id))
    }

    /// What the user began to write here. It survives the app.
    public var draft: String {
        get async throws {
            try await parts.store.read { [id] in try $0.one("select text from draft where thread_id = ?", [id.rawValue])
            } ?? ""
        }
    }

    /// Keeps what the user has written so far. An empty text removes the draft.
    public func setDraft(_ text: String) async throws {
        try await parts.store.write { [id] fold in
            if text.isEmpty {
                try fold.db.run("delete from draft where thread_id = ?", [id.rawValue])
            } else {
                try fold.db.run("insert or replace into draft (thread_id, text) values (?, ?)", [id.rawValue, text])
            }
            fold.changes.threads.insert(id.rawValue)
        }
    }

    // MARK: The thread

    /// Changes title, topic, picture, retention or the host app's data. A picture is an `https:` URL or `attachment:{id}`.
    public func update(
        title: FieldChange<String> = .unchanged, topic: FieldChange<String> = .unchanged,
        image: FieldChange<String> = .unchanged,
        retention: FieldChange<Retention> = .unchanged, custom: FieldChange<[String: JSONValue]> = .unchanged,
        labels: [String]? = nil
    ) async throws {
        let call = Call<ThreadSummary>.threads.update(
            id, title: title, topic: topic, image: image, retention: retention, custom: custom, labels: labels)
        try await change(call.raw) { [id] fold, answer, touches in
            guard !touches.concern(id) else { return }
            try fold.change(id.rawValue) { $0.takeDescription(answer) }
        }
    }

    /// Changes the user's own view of the thread. Nil leaves a value as it is. `mute: .set(nil)` unmutes the thread, and
    /// messages below `hiddenBeforeSeq` are no longer shown to the user. Nobody else sees `custom` and `labels`.
    public func updateSettings(
        mute: FieldChange<Mute> = .unchanged, isArchived: Bool? = nil, isPinned: Bool? = nil,
        notify: AlertLevel? = nil, hiddenBeforeSeq: Seq? = nil,
        custom: FieldChange<[String: JSONValue]> = .unchanged, labels: [String]? = nil
    ) async throws {
        let call = Call<ThreadSettings>.threads.updateSettings(
            of: id, mute: mute, isArchived: isArchived, isPinned: isPinned, notify: notify,
            hiddenBeforeSeq: hiddenBeforeSeq, custom: custom, labels: labels)
        try await change(call.raw) { [id] fold, answer, touches in
            guard !touches.concern(id) else { return }
            try fold.showSettings(id.rawValue, answer)
        }
    }

    // MARK: Members

    /// Adds a person, or invites them.
    public func add(_ user: UserID, invite: Bool = false) async throws {
        try await setMember(.threads.setMember(user, of: id, status: invite ? .invited : .joined))
    }

    /// Gives a member another role. Only owners may.
    public func setRole(_ role: Role, of user: UserID) async throws {
        try await setMember(.threads.setMember(user, of: id, role: role))
    }

    /// Accepts an invitation.
    public func join() async throws {
        try await setMember(.threads.setMember(.me, of: id, status: .joined))
    }

    private func setMember(_ call: Call<Member>) async throws {
        try await change(call.raw) { [id] fold, answer, touches in
            guard !touches.concern(id) else { return }
            try fold.showMember(id.rawValue, answer)
        }
    }

    /// Removes a member. Only owners and admins may.
    public func remove(_ user: UserID) async throws {
        try await parts.store.flight { [id, connection = parts.connection] in
            try await connection.call(.threads.removeMember(user, of: id))
        } store: { [id] fold, _, touches in
            guard !touches.concern(id) else { return }
            try fold.showRemoval(of: user.rawValue, id.rawValue)
        }
    }

    /// Leaves the thread, or declines an invitation. The thread goes from the store.
    public func leave() async throws {
        try await parts.store.flight { [id, connection = parts.connection] in
            try await connection.call(.threads.removeMember(.me, of: id))
        } store: { [id] fold, _, touches in
            // Somebody may have added the user again.
            guard !touches.concern(id) else { return }
            try fold.removeThread(id.rawValue)
        }
    }

    /// Makes a call and stores its answer, except what events have changed since.
    private func change(
        _ call: Call<JSONValue>, _ store: @escaping @Sendable (inout Fold, JSONValue, Touches) throws -> Void
    ) async throws {
        try await parts.store.flight { [connection = parts.connection] in
            try await connection.call(call)
        } store: {
            try store(&$0, $1, $2)
        }
    }
}

extension Payload? {
    /// The same payload with another text.
    fileprivate func with(text: String) -> Payload {
        let text = text.isEmpty ? nil : text
        switch self {
        case .text(var payload):
            payload.text = text
            return .text(payload)
        case .other(var value):
            value["text"] = text.map(JSONValue.string)
            return .other(value)
        case .location, .encrypted, .system, nil: return .text(text)
        }
    }
}

extension Touches {
    /// Whether events changed the thread itself or its members.
    func concern(_ id: ThreadID) -> Bool {
        threads.contains(id.rawValue) || members.contains(id.rawValue) || isReset(id.rawValue)
    }

    /// Whether events changed anything that a thread of the inbox shows.
    func concernInbox(_ id: ThreadID) -> Bool { concern(id) || messages[id.rawValue] != nil }
}

// What calls of this device have changed is shown before the event. Counts are left to the event.
extension Fold {
    mutating func showSettings(_ id: String, _ settings: JSONValue) throws {
        let keys = ["muted_until", "archived", "pinned", "notify", "hidden_before_seq", "custom", "labels"]
        try change(id) { thread in
            thread.setMe(.object(keys.map { .init($0, settings[$0] ?? .null) }))
        }
        try hide(id)
    }

    mutating func showMember(_ id: String, _ member: JSONValue) throws {
        if try hasMembers(of: id) { try setMember(member, of: id) }
        guard member["user"]?["id"]?.string == userID else { return }
        try change(id) { $0.setMe(["role": member["role"] ?? .null, "status": member["status"] ?? .null]) }
    }

    mutating func showRemoval(of user: String, _ id: String) throws {
        guard var member = try member(user, of: id) else { return }
        member["status"] = "removed"
        try setMember(member, of: id)
    }
}
