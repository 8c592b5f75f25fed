// Messages of the host app's server: sent as a user or as the server itself, read, edited and removed.
import Domain
import Store

extension AdminCalls {
    var messageRoutes: [Route] {
        let (all, one) = (Self.thread + "/messages", Self.thread + "/messages/{message_id}")
        return [
            Route(.post, all, .adminSendMessage, body: .message, repeats: .kept, .admin(.messagesWrite, sendMessage)),
            Route(.get, all, .adminListMessages, query: .read, .admin(.messagesRead, listMessages)),
            Route(
                .get, one, .adminGetMessage,
                .admin(.messagesRead) { call, _ in
                    .json(try await store.adminMessage(call.message(), in: store.thread(of: call)))
                }),
            Route(.patch, one, .adminEditMessage, body: .message, .admin(.messagesWrite, editMessage)),
            Route(
                .delete, one, .adminDeleteMessage,
                .adminDone(.moderation) { call, actor in
                    try await store.removeMessage(call.message(), in: store.thread(of: call), by: actor)
                }),
        ]
    }

    private func sendMessage(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let thread = try await store.thread(of: call)
        let body = try await call.body()
        var draft = try ServerMessageDraft(body, limits: limits)
        if let id = messages.id(of: body, call.once) { draft.message.id = id }
        var sender: UserID?
        if let reference = draft.sender { sender = try await store.id(of: reference, in: "sender") }
        let mentions = try await store.ids(of: draft.mentions, in: "mentions").withoutRepeats
        var payload = draft.message.payload
        if let sender {
            let message = NewMessage(
                id: draft.message.id, thread: thread, sender: sender, type: draft.message.type.text,
                payload: payload.text, attachments: payload.attachments, replyTo: draft.message.replyTo,
                mentions: mentions, expires: draft.message.expires)
            switch try await messages.judge(message, of: draft.message.type) {
            case .underReview(let review): return .json(review, status: .accepted)
            case .accepted(let message):
                payload = MessagePayload(text: message.payload, attachments: message.attachments)
            }
        }
        let (created, message) = try await store.send(
            ServerMessage(draft: draft.message, sender: sender, mentions: mentions, isSilent: draft.isSilent),
            to: thread, payload: payload, by: actor, once: call.once)
        return .made(created, message)
    }

    private func listMessages(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let thread = try await store.thread(of: call)
        var query = call.query
        let limit = query.limit()
        let before = query.optional("before", HistoryBound.self)
        let after = query.optional("after", HistoryBound.self)
        try query.end()
        return .json(try await store.adminMessages(in: thread, before: before, after: after, limit: limit))
    }

    /// The message's type decides what its payload must have, so it is looked up first.
    private func editMessage(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let (thread, message) = (try await store.thread(of: call), try call.message())
        let type = try await store.editableType(of: message, in: thread)
        let payload = try await call.fields { fields in
            let payload = fields.required("payload") { json throws(Invalid) in
                try MessagePayload(json, as: type, limits: limits)
            }
            return try fields.values(payload)
        }
        return .json(try await store.editMessage(message, in: thread, payload: payload, by: actor))
    }
}
