// The operator's policy: asked before a message or an edit is accepted.
import Domain
import Store

/// What the policy made of a message.
enum Judged: Sendable {
    /// To be stored like this.
    case accepted(NewMessage)
    /// Not to be stored yet: the review as the sender of the message sees it.
    case underReview(JSONText)
}

extension MessageCalls {
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
        case .review(let review): return .underReview(review)
        case .deny(let code, let detail):
            var problem = Problem(.policyDenied, detail)
            problem.policyCode = code
            throw problem
        }
    }
}
