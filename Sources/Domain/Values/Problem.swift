// The closed set of refusals. The API renders them as problem documents.

/// Why a request was refused or failed. The codes are part of the contract: never renamed, never reused.
package enum ProblemCode: String, CaseIterable, Sendable {
    // 400
    case malformedRequest = "malformed_request"
    case malformedJSON = "malformed_json"
    // 401
    case unauthenticated = "unauthenticated"
    case invalidToken = "invalid_token"
    case wrongCredentials = "wrong_credentials"
    // 403
    case notJoined = "not_joined"
    case notAllowed = "not_allowed"
    case notReachable = "not_reachable"
    case accountSuspended = "account_suspended"
    case memberLeft = "member_left"
    case notAMember = "not_a_member"
    case wrongPassword = "wrong_password"
    case wrongCode = "wrong_code"
    case registrationClosed = "registration_closed"
    case invitationRequired = "invitation_required"
    case invitationInvalid = "invitation_invalid"
    case quotaExceeded = "quota_exceeded"
    case policyDenied = "policy_denied"
    case scopeMissing = "scope_missing"
    // 404
    case notFound = "not_found"
    case threadNotFound = "thread_not_found"
    case messageNotFound = "message_not_found"
    case memberNotFound = "member_not_found"
    case userNotFound = "user_not_found"
    case sessionNotFound = "session_not_found"
    case attachmentNotFound = "attachment_not_found"
    case consumerNotFound = "consumer_not_found"
    case webhookNotFound = "webhook_not_found"
    case hookNotFound = "hook_not_found"
    case invitationNotFound = "invitation_not_found"
    case commandNotFound = "command_not_found"
    case reportNotFound = "report_not_found"
    case holdNotFound = "hold_not_found"
    case reviewNotFound = "review_not_found"
    case keyNotFound = "key_not_found"
    case failureNotFound = "failure_not_found"
    // 405
    case methodNotAllowed = "method_not_allowed"
    // 408
    case requestTimeout = "request_timeout"
    // 409
    case usernameTaken = "username_taken"
    case emailTaken = "email_taken"
    case externalIDTaken = "external_id_taken"
    case threadKindDiffers = "thread_kind_differs"
    case noPassword = "no_password"
    case emailNeeded = "email_needed"
    case idTaken = "id_taken"
    case directMembersFixed = "direct_members_fixed"
    case lastOwner = "last_owner"
    case titleTaken = "title_taken"
    case wordTaken = "word_taken"
    case messageDeleted = "message_deleted"
    case attachmentNotReady = "attachment_not_ready"
    case attachmentRefused = "attachment_refused"
    case attachmentInUse = "attachment_in_use"
    case holdReleased = "hold_released"
    case failureNotRetryable = "failure_not_retryable"
    case reviewNotApprovable = "review_not_approvable"
    case reviewDecided = "review_decided"
    case uploadOffsetMismatch = "upload_offset_mismatch"
    case uploadComplete = "upload_complete"
    case uploadSuperseded = "upload_superseded"
    case cursorBehind = "cursor_behind"
    case importEnded = "import_ended"
    case importSuperseded = "import_superseded"
    // 410
    case cursorExpired = "cursor_expired"
    // 413 414 415 416 417 422 429 431
    case bodyTooLarge = "body_too_large"
    case attachmentTooLarge = "attachment_too_large"
    case targetTooLong = "target_too_long"
    case unsupportedMediaType = "unsupported_media_type"
    case rangeNotSatisfiable = "range_not_satisfiable"
    case expectationFailed = "expectation_failed"
    case invalid = "invalid"
    case tooManyThreads = "too_many_threads"
    case tooManyConsumers = "too_many_consumers"
    case tooManyWebhooks = "too_many_webhooks"
    case tooManyCommands = "too_many_commands"
    case tooManySessions = "too_many_sessions"
    case pushNotConfigured = "push_not_configured"
    case idempotencyKeyReused = "idempotency_key_reused"
    case idempotencyKeyUnsupported = "idempotency_key_unsupported"
    case rateLimited = "rate_limited"
    case headersTooLarge = "headers_too_large"
    // 500 501 503 505
    case internalError = "internal_error"
    case notImplemented = "not_implemented"
    case overloaded = "overloaded"
    case unavailable = "unavailable"
    case mailNotConfigured = "mail_not_configured"
    case versionNotSupported = "version_not_supported"
}

/// A refusal. `detail` is shown to clients: it holds no secret and no SQL.
package struct Problem: Error, Equatable {
    /// One invalid field of a request: its name, as a path in the body (`payload.text`) or a parameter's name.
    package struct Field: Equatable, Sendable {
        package var field: String
        package var detail: String
        package init(_ field: String, _ detail: String) {
            self.field = field
            self.detail = detail
        }
    }

    package var code: ProblemCode
    /// The code that clients see instead of `code`: a word of the operator's policy.
    package var policyCode: String?
    package var detail: String
    package var fields: [Field] = []
    /// Seconds after which to retry; with 429 and 503.
    package var retryAfterS: Int?
    /// The limit that was reached, with 429.
    package var limit: RateLimit?

    package init(_ code: ProblemCode, _ detail: String, fields: [Field] = [], retryAfterS: Int? = nil) {
        self.code = code
        self.detail = detail
        self.fields = fields
        self.retryAfterS = retryAfterS
    }

    /// 422 for one or more fields.
    package static func invalid(_ fields: [Field]) -> Problem {
        Problem(.invalid, "Some fields are invalid. See `errors`.", fields: fields)
    }

    package static func invalid(_ field: String, _ detail: String) -> Problem { .invalid([Field(field, detail)]) }

    // Refusals that several layers make.

    package static let userNotFound = Problem(.userNotFound, "There is no such user.")
    package static let attachmentNotFound = Problem(
        .attachmentNotFound, "There is no such attachment, or you cannot see it.")
    package static let stopping = Problem(
        .unavailable, "This node is stopping. Retry after the seconds in Retry-After.", retryAfterS: 1)
    package static let busy = Problem(
        .overloaded, "The service is busy. Retry after the seconds in Retry-After.", retryAfterS: 1)
    package static let databaseUnavailable = Problem(
        .unavailable, "The database is unavailable. Retry after the seconds in Retry-After.", retryAfterS: 1)
}

extension Problem: CustomStringConvertible {
    /// For logs: the sentence, and the fields that are wrong.
    package var description: String {
        ([detail] + fields.map { "\($0.field): \($0.detail)" }).joined(separator: " ")
    }
}
