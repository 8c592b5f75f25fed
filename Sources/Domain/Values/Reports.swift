// Reports of messages and people to the moderators.

package enum ReportState: String, WordField { case open, resolved, dismissed }

/// Why somebody reports: 1–1,000 characters, in any number of lines.
package struct ReportReason: Hashable, Sendable, TextField {
    package static let characterCountMax = 1_000
    package let text: String

    package init(text: String) throws(Invalid) {
        guard text.utf8.count <= 16 * Self.characterCountMax, text.unicodeScalars.count <= Self.characterCountMax else {
            throw Invalid("Must have at most \(Self.characterCountMax) characters.")
        }
        guard text.contains(where: { !$0.isWhitespace }) else { throw Invalid("Must not be empty.") }
        self.text = text
    }
}

/// What is reported.
package enum ReportSubject: Sendable {
    case message(MessageID, in: ThreadID)
    case user(UserID)
}

/// A report as a client sends it.
package struct ReportDraft: Sendable {
    package var subject: ReportSubject
    package var reason: ReportReason

    package init(_ fields: inout Fields<JSONValue>) throws(Invalid) {
        let reason = fields.required("reason", ReportReason.self)
        if fields.has("user_id") {
            for name in ["thread_id", "message_id"] where fields.has(name) {
                _ = fields.given(name) { _ throws(Invalid) in throw Invalid("Cannot be combined with `user_id`.") }
            }
            let user = fields.required("user_id", UserID.self)
            let given = try fields.values(user, reason)
            (subject, self.reason) = (.user(given.0), given.1)
            return
        }
        let thread = fields.required("thread_id", ThreadID.self)
        let message = fields.required("message_id", MessageID.self)
        let given = try fields.values(thread, message, reason)
        (subject, self.reason) = (.message(given.1, in: given.0), given.2)
    }
}
