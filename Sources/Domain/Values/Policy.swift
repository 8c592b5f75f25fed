// What the operator's policy decides about a message or an edit.

/// The policy's verdict.
package enum PolicyVerdict: Sendable {
    case allow
    /// The sender gets 403 with this code and sentence.
    case deny(code: String, detail: String)
    /// The message is stored with this payload instead.
    case rewrite(MessagePayload)
    /// The message waits for a moderator. Only moderators see the code and the sentence.
    case review(code: String?, detail: String?)

    /// The verdict without its content: a word of the policy's answer.
    package enum Action: String, CaseIterable, Sendable { case allow, deny, rewrite, review }

    package var action: Action {
        switch self {
        case .allow: .allow
        case .deny: .deny
        case .rewrite: .rewrite
        case .review: .review
        }
    }
}

/// A moderator's decision about a message under review.
package enum ReviewAction: String, WordField { case approve, refuse }

/// The bounds on what a policy may say.
package enum PolicyLimits {
    package static let codeByteCountMax = 64
    package static let detailCharacterCountMax = 500
    /// A larger answer counts as a failure.
    package static let answerByteCountMax = 1 << 20
    /// Questions of a node under way at once, of all accounts and of one; more wait for their turn.
    package static let inFlightCountMax = 64
    package static let accountInFlightCountMax = 4
    /// Questions of a node that wait, of all accounts and of one.
    package static let waitingCountMax = 1_024
    package static let accountWaitingCountMax = 256
    package static let timeoutMs = 500
}
