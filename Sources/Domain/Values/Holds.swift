// Legal holds: whose content is kept when it is removed.

/// The name of a hold, such as a case number: 1–128 characters in one line.
package struct HoldName: Hashable, Sendable, TextField {
    package static let characterCountMax = 128
    package let text: String

    package init(text: String) throws(Invalid) {
        self.text = try .singleLine(text, characterCountMax: Self.characterCountMax)
    }
}

/// What a hold covers.
package enum HoldSubject: Sendable {
    /// The messages that the user sent.
    case user(UserReference)
    /// All messages of the thread.
    case thread(ThreadReference)
}

/// A hold as an administrator orders it.
package struct HoldDraft: Sendable {
    package var name: HoldName
    package var reason: ReportReason?
    package var subject: HoldSubject

    package init(_ fields: inout Fields<JSONValue>) throws(Invalid) {
        reason = fields.optional("reason", ReportReason.self)
        let name = fields.required("name", HoldName.self)
        if fields.has("thread_id") {
            if fields.has("user_id") { fields.refuse("thread_id", "Cannot be combined with `user_id`.") }
            _ = fields.optional("user_id", UserReference.self)
            let thread = fields.required("thread_id", ThreadReference.self)
            let given = try fields.values(name, thread)
            (self.name, subject) = (given.0, .thread(given.1))
            return
        }
        let user = fields.required("user_id", UserReference.self)
        let given = try fields.values(name, user)
        (self.name, subject) = (given.0, .user(given.1))
    }
}
