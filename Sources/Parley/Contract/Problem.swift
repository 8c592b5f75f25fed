// What the server answers when it refuses a call (RFC 9457).
import Foundation

/// A refusal of the server. It is thrown as `ParleyError`, whose `problem` it is.
public struct Problem: Sendable, Hashable {
    /// A stable word. Decide by it; an unknown one is decided by `status`.
    public struct Code: StringValue {
        public let rawValue: String
        public init(_ rawValue: String) { self.rawValue = rawValue }
    }

    /// One invalid field of a request.
    public struct Field: Sendable, Hashable, Codable {
        /// The path of the field: `payload.text`.
        public let field: String
        /// What is wrong with the field, in English for developers.
        public let detail: String
    }

    /// The HTTP status.
    public let status: Int
    /// Decide by this word.
    public let code: Code
    /// A few English words for the code.
    public let title: String
    /// One English sentence for developers.
    public let detail: String
    /// The invalid fields, with status 422.
    public let errors: [Field]
    /// How long to wait before the next try (`Retry-After`).
    public let retryAfter: Duration?
    /// `X-Request-Id`: the operator of the server finds the request by it.
    public let requestID: String?
    /// The whole document, with members that belong to one code only.
    public let document: JSONValue
}

extension Problem.Code {
    /// The call was accepted (202), but a moderator must approve it: an edit, or a message that was sent without the outbox.
    /// `document` is the message under review.
    public static let pendingReview: Self = "pending_review"
}

extension Problem {
    /// Reads a refusal. An answer that is no problem document, such as a proxy's page, becomes code `unexpected_answer`.
    init(_ response: HTTPResponse) {
        let document = (try? JSONValue(json: response.body)) ?? .null
        let isPending = response.status == 202
        status = response.status
        code = isPending ? .pendingReview : .init(rawValue: document["code"]?.string ?? "unexpected_answer")
        title = document["title"]?.string ?? (isPending ? "Pending review" : "Unexpected answer")
        detail =
            isPending
            ? "A moderator must approve this first."
            : document["detail"]?.string ?? "The server answered with status \(response.status)."
        errors = (document["errors"]?.array ?? []).compactMap { entry in
            guard let field = entry["field"]?.string else { return nil }
            return Field(field: field, detail: entry["detail"]?.string ?? "")
        }
        retryAfter = response["retry-after"].flatMap(Int.init).map { .seconds($0) }
        requestID = response["x-request-id"]
        self.document = document
    }

    /// Whether the same request may succeed later: the server is busy or away, or the client called too often.
    public var isTemporary: Bool {
        // A redirect is a network that wants its user to sign in first.
        (300..<400).contains(status) || status == 408 || status == 429
            || status >= 500 && status != 501 && status != 505 && code != .mailNotConfigured
    }
}

extension Problem: CustomStringConvertible {
    public var description: String {
        let fields = errors.map { " \($0.field): \($0.detail)" }.joined()
        return "\(detail)\(fields) (\(code.rawValue), \(status))"
    }
}
