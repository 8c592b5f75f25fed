// Messages: sending, the history, reactions, search.
import Foundation

extension Call {
    /// Sending messages, and the history.
    public static var messages: MessageCalls { MessageCalls() }
}

/// A place in a thread's history.
@nonexhaustive
public enum HistoryBound: Sendable, Hashable {
    /// The message with this seq.
    case seq(Seq)
    /// The message with this id.
    case message(MessageID)
    /// The messages of this time.
    case time(Date)

    var text: String {
        switch self {
        case .seq(let seq): seq.description
        case .message(let id): id.rawValue
        case .time(let date): date.rfc3339
        }
    }
}

/// A message to be sent.
public struct MessageDraft: Sendable, Hashable {
    /// The same id with the same content is stored once, so a send may be repeated.
    public var id: MessageID
    /// How to read the payload.
    public var type: MessageType
    /// What the message says.
    public var payload: Payload
    /// The message that this one answers.
    public var replyTo: MessageID?
    /// Members of the thread, at most 100.
    public var mentions: [UserID]
    /// The message becomes a tombstone after this time. Whole seconds count.
    public var expiresIn: Duration?

    /// Makes a draft. Choose a random id, and keep it for repeated sends.
    public init(
        id: MessageID, type: MessageType = .message, payload: Payload, replyTo: MessageID? = nil,
        mentions: [UserID] = [], expiresIn: Duration? = nil
    ) {
        self.id = id
        self.type = type
        self.payload = payload
        self.replyTo = replyTo
        self.mentions = mentions
        self.expiresIn = expiresIn
    }

    var json: JSONValue {
        .fields([
            "id": .init(id), "type": type == .message ? nil : .init(type), "payload": payload.draft,
            "reply_to": replyTo.map { .init($0) },
            "mentions": mentions.isEmpty ? nil : .array(mentions.map { .init($0) }),
            "expires_in_s": expiresIn.map { .integer($0.components.seconds) },
        ])
    }
}

/// `Call.messages`. All these calls name the thread.
public struct MessageCalls: Sendable {
    /// Sends a message. When this call is answered, the message is stored. `ParleyClient` has an outbox for sending
    /// that survives the app and the network. A message that a moderator must approve first throws `refused` with
    /// `pendingReview`. `POST /v1/threads/{thread_id}/messages`
    public func send(_ draft: MessageDraft, in thread: ThreadID) -> Call<Message> {
        var call = Call<Message>("POST", "v1", "threads", thread.rawValue, "messages", body: draft.json)
        call.accepted = 200..<202
        return call
    }

    /// Messages in ascending order: the first ones after a bound, or else the last ones before a bound, or else the
    /// newest. `GET /v1/threads/{thread_id}/messages`
    public func list(
        in thread: ThreadID, before: HistoryBound? = nil, after: HistoryBound? = nil, limit: Int? = nil
    ) -> Call<MessagePage> {
        Call(
            "GET", "v1", "threads", thread.rawValue, "messages",
            query: [("before", before?.text), ("after", after?.text), ("limit", limit.map { String($0) })])
    }

    /// One message. `GET /v1/threads/{thread_id}/messages/{message_id}`
    public func get(_ id: MessageID, in thread: ThreadID) -> Call<Message> {
        Call("GET", "v1", "threads", thread.rawValue, "messages", id.rawValue)
    }

    /// Replaces the payload of an own message. An edit that a moderator must approve first throws `refused` with
    /// `pendingReview`. `PATCH /v1/threads/{thread_id}/messages/{message_id}`
    public func edit(_ id: MessageID, in thread: ThreadID, payload: Payload) -> Call<Message> {
        var call = Call<Message>(
            "PATCH", "v1", "threads", thread.rawValue, "messages", id.rawValue, body: ["payload": payload.draft])
        call.accepted = 200..<202
        return call
    }

    /// For whom a message is deleted.
    @nonexhaustive
    public enum Audience: String, Sendable {
        /// The message becomes a tombstone for all members.
        case everyone
        /// The message disappears for this user, on all of the user's devices.
        case me
    }

    /// Deletes a message. `DELETE /v1/threads/{thread_id}/messages/{message_id}`
    public func delete(_ id: MessageID, in thread: ThreadID, for audience: Audience = .everyone) -> Call<Void> {
        Call(
            "DELETE", "v1", "threads", thread.rawValue, "messages", id.rawValue, query: [("for", audience.rawValue)])
    }

    /// The earlier versions of a message, the latest first; none once its content is gone. A server may have the history
    /// off: see `ServiceInfo.hasEditHistory`. `GET /v1/threads/{thread_id}/messages/{message_id}/edits`
    public func edits(
        of id: MessageID, in thread: ThreadID, limit: Int? = nil, page: String? = nil
    ) -> Call<EditPage> {
        Call("GET", "v1", "threads", thread.rawValue, "messages", id.rawValue, "edits", query: .page(limit, page))
    }

    /// Adds a reaction. `PUT /v1/threads/{thread_id}/messages/{message_id}/reactions/{emoji}`
    public func react(_ emoji: String, to id: MessageID, in thread: ThreadID) -> Call<Void> {
        Call("PUT", "v1", "threads", thread.rawValue, "messages", id.rawValue, "reactions", emoji)
    }

    /// Removes the own reaction. `DELETE /v1/threads/{thread_id}/messages/{message_id}/reactions/{emoji}`
    public func unreact(_ emoji: String, to id: MessageID, in thread: ThreadID) -> Call<Void> {
        Call("DELETE", "v1", "threads", thread.rawValue, "messages", id.rawValue, "reactions", emoji)
    }

    /// The people who reacted with an emoji, the latest first.
    /// `GET /v1/threads/{thread_id}/messages/{message_id}/reactions/{emoji}`
    public func reactions(
        _ emoji: String, to id: MessageID, in thread: ThreadID, limit: Int? = nil, page: String? = nil
    ) -> Call<UserPage> {
        Call(
            "GET", "v1", "threads", thread.rawValue, "messages", id.rawValue, "reactions", emoji,
            query: .page(limit, page))
    }

    /// The people who have received and read a message. `GET /v1/threads/{thread_id}/messages/{message_id}/receipts`
    public func receipts(
        of id: MessageID, in thread: ThreadID, limit: Int? = nil, page: String? = nil
    ) -> Call<ReceiptPage> {
        Call(
            "GET", "v1", "threads", thread.rawValue, "messages", id.rawValue, "receipts", query: .page(limit, page))
    }

    /// The commands that work in a thread, for completion. `GET /v1/commands`
    public func commands(in thread: ThreadID) -> Call<CommandList> {
        Call("GET", "v1", "commands", query: [("thread_id", thread.rawValue)])
    }

    /// Messages in which every word of the text begins some word, newest first, in one thread or in all.
    /// `GET /v1/search`
    public func search(
        _ text: String, in thread: ThreadID? = nil, limit: Int? = nil, page: String? = nil
    ) -> Call<SearchPage> {
        Call("GET", "v1", "search", query: [("q", text), ("thread", thread?.rawValue)] + .page(limit, page))
    }
}

extension Payload {
    /// The payload in a request. Of attachments only the ids count.
    var draft: JSONValue {
        func ids(_ attachments: [Attachment]?) -> JSONValue? {
            attachments.map { .array($0.map { ["id": .init($0.id)] }) }
        }
        switch self {
        case .text(let payload):
            var fields = payload.other
            fields["text"] = payload.text.map { .string($0) }
            fields["attachments"] = ids(payload.attachments)
            return .object(fields)
        case .location(let place):
            return .fields([
                "latitude": .double(place.latitude), "longitude": .double(place.longitude),
                "accuracy_m": place.accuracyMetres.map { .double($0) }, "label": place.label.map { .string($0) },
            ])
        case .encrypted(let payload):
            return .fields([
                "ciphertext": .string(payload.ciphertext.base64EncodedString()),
                "attachments": ids(payload.attachments),
            ])
        case .system(let payload): return ["action": .init(payload.action)]  // Only the server sends these.
        case .other(let value): return value
        }
    }
}
