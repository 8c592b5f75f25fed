// The verdicts of the operator's policy.
import Domain
import FoundationEssentials
import Postgres

/// A verdict as it is recorded.
package enum RecordedVerdict: Sendable {
    case allow
    case deny(code: String, detail: String)
    case rewrite(MessagePayload)
    /// The review as the sender of the message sees it.
    case review(JSONText)
}

/// What is known about a message before the policy is asked.
package enum FoundVerdict: Sendable {
    /// A message with this id is stored: appending it again says whether it is the same.
    case stored
    case verdict(RecordedVerdict)
    /// Nothing: the policy is to be asked, with this sender and thread.
    case none(sender: JSONText, thread: JSONText)
}

extension Store {
    /// Looks for the verdict about a message, or about an edit, by its id and its body. Throws what appending the
    /// message would throw for its thread, its sender or a message under review with its id.
    package func findVerdict(about message: NewMessage, isEdit: Bool) async throws -> FoundVerdict {
        try await log.row("policy_find", Self.subject(message, isEdit)) { row in
            switch try row.text(0) {
            case "stored": .stored
            case "ask": .none(sender: try row.json(6), thread: try row.json(7))
            default: .verdict(try Self.verdict(row))
            }
        }
    }

    /// Records a verdict about a message, or about an edit. Returns the verdict that counts: the first one about the
    /// same body, from whatever node. Throws what the review of the message throws, with `review`.
    package func recordVerdict(
        _ verdict: PolicyVerdict, about message: NewMessage, isEdit: Bool
    ) async throws -> RecordedVerdict {
        try await row(
            "policy_record",
            Self.subject(message, isEdit) + [
                .ids(message.attachments), .int4(orNull: message.expires?.seconds), .text(verdict.action.rawValue),
            ] + Self.content(verdict)
        ) { try Self.verdict($0) }
    }

    private static func subject(_ message: NewMessage, _ isEdit: Bool) -> [Parameter] {
        [
            .id(message.sender), .id(message.thread), .id(message.id), .bool(isEdit), .text(message.type),
            .json(message.payload), .uuid(orNull: message.replyTo?.uuid), .ids(message.mentions),
        ]
    }

    /// Code, detail, new payload and its attachments.
    private static func content(_ verdict: PolicyVerdict) -> [Parameter] {
        switch verdict {
        case .allow: [.null, .null, .null, .null]
        case .deny(let code, let detail): [.text(code), .text(detail), .null, .null]
        case .rewrite(let payload): [.null, .null, .json(payload.text), .ids(payload.attachments)]
        case .review(let code, let detail): [.text(orNull: code), .text(orNull: detail), .null, .null]
        }
    }

    private static func verdict(_ row: Row) throws -> RecordedVerdict {
        switch try row.text(0) {
        case "allow": .allow
        case "deny": .deny(code: try row.text(1), detail: try row.text(2))
        case "rewrite":
            .rewrite(MessagePayload(text: try row.json(3), attachments: try row.uuids(4).map { AttachmentID($0) }))
        case "review": .review(try row.json(5))
        case let other: throw PostgresError.decoding("a verdict \(other)")
        }
    }

    /// Deletes a part of the verdicts and decisions that are no longer needed. Returns how many it looked at.
    package func sweepVerdicts(limit: Int) async throws -> Int {
        try await value("policy_sweep", [.int(limit)]) { Int(try $0.int4(0)) }
    }
}
