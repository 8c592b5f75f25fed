// The operator's policy: asked before a message or an edit is accepted. And /v1/admin/held: the messages that it held.
import Domain
import Store

/// What the policy made of a message.
enum Judged: Sendable {
    /// To be stored like this.
    case accepted(NewMessage)
    /// Not to be stored yet: the held message as its sender sees it.
    case held(JSONText)
}

extension API {
    /// Empty unless an admin token is configured. Messages stay held when the policy's setting is removed.
    var policyRoutes: [Route] {
        guard adminGuard != nil else { return [] }
        return [
            Route(.get, "/v1/admin/held", .adminListHeld, query: .read, .admin(listHeld)),
            Route(.put, "/v1/admin/held/{message_id}", .adminDecideHeld, body: .small, .admin(decideHeld)),
        ]
    }

    /// Asks the policy about a message, or about an edit, unless there is a verdict about the same already. Costs nothing
    /// without a policy. With one: a read, the question, and a write, before the message is queued.
    /// - Throws: 403 with the policy's code if it denies the message; 503 if it does not answer and must.
    func judge(_ message: NewMessage, of type: MessageType, isEdit: Bool = false) async throws -> Judged {
        guard let policy, type != .encrypted else { return .accepted(message) }
        switch try await store.findVerdict(about: message, isEdit: isEdit) {
        case .stored: return .accepted(message)
        case .verdict(let verdict): return try Self.judged(message, verdict)
        case .none(let sender, let thread):
            let question = PolicyQuestion(sender: sender, thread: thread, message: message, type: type, isEdit: isEdit)
            guard let verdict = try await policy.verdict(about: question) else { return .accepted(message) }
            return try Self.judged(
                message, await store.recordVerdict(verdict, about: message, isEdit: isEdit))
        }
    }

    private static func judged(_ message: NewMessage, _ verdict: RecordedVerdict) throws -> Judged {
        switch verdict {
        case .allow: return .accepted(message)
        case .rewrite(let payload):
            var message = message
            message.payload = payload.text
            message.attachments = payload.attachments
            return .accepted(message)
        case .hold(let held): return .held(held)
        case .deny(let code, let detail):
            var problem = Problem(.policyDenied, detail)
            problem.policyCode = code
            throw problem
        }
    }

    private func listHeld(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        var query = call.query
        let request = query.pageRequest()
        try query.end()
        return .list("held", try await store.heldMessages(request), limit: request.limit)
    }

    private func decideHeld(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let message: MessageID = try call.id("message_id", orElse: .heldNotFound)
        let (action, thread) = try await call.fields { fields in
            let action = fields.required("action", HeldAction.self)
            let thread = fields.optional("thread_id", ThreadID.self)
            return (try fields.values(action), thread)
        }
        return .json(try await store.decideHeld(message, in: thread, action, by: actor))
    }
}

extension Problem {
    fileprivate static let heldNotFound = Problem(.heldNotFound, "There is no such held message.")
}
