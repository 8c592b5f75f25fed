// Messages: reading, editing and deleting. Sending is mostly in Send.swift.
import Domain
import Log
import Store

/// The calls on messages, and what all senders share: people here, hooks in Hooks.swift.
struct MessageCalls: Sendable {
    let store: Store
    let writer: Writer<SendWaiter>
    let rates: RateLimits
    let limits: Limits
    let send: SendEndpoint
    /// Asked before a message is accepted. Nil for a service without a policy.
    let policy: PolicyGate?
    /// Whether earlier versions of messages may be read. Without it the call does not exist.
    let showsEdits: Bool

    init(_ services: CallServices, policy: PolicyGate?, showsEdits: Bool) {
        self.showsEdits = showsEdits
        (store, writer) = (services.store, services.log.writer)
        (rates, limits) = (services.rates, services.limits)
        send = SendEndpoint(services, asksPolicy: policy != nil)
        self.policy = policy
    }

    private static var path: String { SendEndpoint.pattern }

    var routes: [Route] {
        [
            Route(.post, Self.path, .sendMessage, body: .message, repeats: .kept, .signedIn(sendMessage)),
            Route(.get, Self.path, .listMessages, query: .read, .signedIn(listMessages)),
            Route(.get, Self.path + "/{message_id}", .getMessage, .signedIn(getMessage)),
            Route(.patch, Self.path + "/{message_id}", .editMessage, body: .message, .signedIn(editMessage)),
            Route(.delete, Self.path + "/{message_id}", .deleteMessage, query: .read, .signedIn(deleteMessage)),
        ]
            + (showsEdits
                ? [Route(.get, Self.path + "/{message_id}/edits", .listEdits, query: .read, .signedIn(listEdits))]
                : [])
    }

    /// Handles the requests that ``SendEndpoint`` leaves to the router.
    private func sendMessage(_ call: Call, _ identity: Identity) async throws -> Answer {
        let thread = try call.thread()
        let body = try await call.body()
        let (draft, type) = try send.message(body, to: thread, by: identity)
        var message = draft
        if let id = id(of: body, call.once) { message.id = id }
        return try await append(message, of: type, once: call.once)
    }

    /// The id of a message whose sender chose none, for a request that may be repeated: the policy is asked once for a
    /// message, so each repeat must have its id.
    func id(of body: JSONValue, _ once: IdempotentRequest?) -> MessageID? {
        policy != nil && (body["id"] ?? .null) == .null ? once?.messageID : nil
    }

    /// Appends a message if the policy allows it; with its payload, or not yet. A message under review is not kept under
    /// the request's key: its id makes a repeat find the verdict.
    func append(_ message: NewMessage, of type: MessageType, once: IdempotentRequest? = nil) async throws -> Answer {
        switch try await judge(message, of: type) {
        case .accepted(let message):
            if let once {
                let appended = try await store.append(message, once: once)
                return .made(appended.created, appended.body)
            }
            return try await withCheckedThrowingContinuation { writer.append(message, waiter: .task($0)) }
        case .underReview(let review): return .json(review, status: .accepted)
        }
    }

    private func listMessages(_ call: Call, _ identity: Identity) async throws -> Answer {
        let thread = try call.thread()
        var query = call.query
        let limit = query.limit()
        let before = query.optional("before", HistoryBound.self)
        let after = query.optional("after", HistoryBound.self)
        try query.end()
        return .json(
            try await store.messages(in: thread, for: identity.user, before: before, after: after, limit: limit))
    }

    private func getMessage(_ call: Call, _ identity: Identity) async throws -> Answer {
        .json(try await store.message(call.message(), in: call.thread(), for: identity.user))
    }

    private func listEdits(_ call: Call, _ identity: Identity) async throws -> Answer {
        try await call.list("edits") {
            try await store.edits(of: call.message(), in: call.thread(), for: identity.user, $0)
        }
    }

    /// The message's type decides what its payload must have, so it is looked up first.
    private func editMessage(_ call: Call, _ identity: Identity) async throws -> Answer {
        let thread = try call.thread()
        let message = try call.message()
        let body = try await call.body()
        let type = try await store.editableType(of: message, in: thread, by: identity.user)
        let edit = try MessageEdit(body, type: type, limits: limits)
        let draft = NewMessage(
            id: message, thread: thread, sender: identity.user, type: type.text, payload: edit.payload.text,
            attachments: edit.payload.attachments)
        switch try await judge(draft, of: type, isEdit: true) {
        case .underReview(let review): return .json(review, status: .accepted)
        case .accepted(let draft):
            let (edited, memberCount) = try await store.editMessage(
                message, in: thread, by: identity.user,
                payload: MessagePayload(text: draft.payload, attachments: draft.attachments))
            rates.charge(reaching: memberCount, by: identity.user)
            return .json(edited)
        }
    }

    private func deleteMessage(_ call: Call, _ identity: Identity) async throws -> Answer {
        let thread = try call.thread()
        let message = try call.message()
        switch try Self.audience(call.query) {
        case .everyone:
            let memberCount = try await store.deleteMessage(message, in: thread, by: identity.user)
            rates.charge(reaching: memberCount, by: identity.user)
        case .me: try await store.hideMessage(message, in: thread, from: identity.user)
        }
        return .noContent
    }

    private static func audience(_ query: Fields<String>) throws -> Audience {
        var query = query
        let audience = query.optional("for", Audience.self)
        try query.end()
        return audience ?? .everyone
    }
}

/// The people for whom a message is deleted.
private enum Audience: String, WordField { case everyone, me }
