// The codes of refusals that a user's client may get. docs/client-guide.md says what a client does after each.

extension Problem.Code {
    /// 400: The request is not valid HTTP for this service.
    public static let malformedRequest: Self = "malformed_request"
    /// 400: The body is not JSON in UTF-8.
    public static let malformedJSON: Self = "malformed_json"
    /// 401: The token is missing.
    public static let unauthenticated: Self = "unauthenticated"
    /// 401: The session has ended.
    public static let invalidToken: Self = "invalid_token"
    /// 401: Wrong name, password, code or token.
    public static let wrongCredentials: Self = "wrong_credentials"
    /// 403: The user is invited and has not accepted.
    public static let notJoined: Self = "not_joined"
    /// 403: The user's role does not allow it.
    public static let notAllowed: Self = "not_allowed"
    /// 403: This person cannot be reached by the user.
    public static let notReachable: Self = "not_reachable"
    /// 403: The operator suspended the account.
    public static let accountSuspended: Self = "account_suspended"
    /// 403: The person left and can only be invited.
    public static let memberLeft: Self = "member_left"
    /// 403: `current` is not the password.
    public static let wrongPassword: Self = "wrong_password"
    /// 403: The mailed code is wrong or has expired.
    public static let wrongCode: Self = "wrong_code"
    /// 403: The service lets nobody register.
    public static let registrationClosed: Self = "registration_closed"
    /// 403: The service lets people register with an invitation only.
    public static let invitationRequired: Self = "invitation_required"
    /// 403: The invitation is unknown, expired or used up.
    public static let invitationInvalid: Self = "invitation_invalid"
    /// 403: The user's attachments take too many bytes.
    public static let quotaExceeded: Self = "quota_exceeded"
    /// 403: The operator's policy or a moderator denied the message; a policy may send a code of its own instead.
    public static let policyDenied: Self = "policy_denied"
    /// 404: No such path, or this API is not enabled.
    public static let notFound: Self = "not_found"
    /// 404: No such thread, or the user is not in it.
    public static let threadNotFound: Self = "thread_not_found"
    /// 404: No such message, or it is hidden from the user.
    public static let messageNotFound: Self = "message_not_found"
    /// 404: Nobody like that in the thread.
    public static let memberNotFound: Self = "member_not_found"
    /// 404: No such account.
    public static let userNotFound: Self = "user_not_found"
    /// 404: The device is signed out already.
    public static let sessionNotFound: Self = "session_not_found"
    /// 404: No such attachment, no thumbnail, or not the user's to see.
    public static let attachmentNotFound: Self = "attachment_not_found"
    /// 405: The path has no such method; see `Allow`.
    public static let methodNotAllowed: Self = "method_not_allowed"
    /// 408: The request arrived too slowly.
    public static let requestTimeout: Self = "request_timeout"
    /// 409: The name is taken.
    public static let usernameTaken: Self = "username_taken"
    /// 409: The account signs in by code or token.
    public static let noPassword: Self = "no_password"
    /// 409: The account signs in by its e-mail address only.
    public static let emailNeeded: Self = "email_needed"
    /// 409: Another message, or another file, has this id.
    public static let idTaken: Self = "id_taken"
    /// 409: A direct thread has exactly its two people.
    public static let directMembersFixed: Self = "direct_members_fixed"
    /// 409: The last owner cannot step down.
    public static let lastOwner: Self = "last_owner"
    /// 409: Another room has this title.
    public static let titleTaken: Self = "title_taken"
    /// 409: The message is deleted.
    public static let messageDeleted: Self = "message_deleted"
    /// 409: The file is not complete or not checked yet.
    public static let attachmentNotReady: Self = "attachment_not_ready"
    /// 409: The virus scanner refused the file.
    public static let attachmentRefused: Self = "attachment_refused"
    /// 409: A message, profile or thread uses the attachment.
    public static let attachmentInUse: Self = "attachment_in_use"
    /// 409: The upload has another number of bytes.
    public static let uploadOffsetMismatch: Self = "upload_offset_mismatch"
    /// 409: All bytes have arrived before.
    public static let uploadComplete: Self = "upload_complete"
    /// 409: A later request for the same upload ended this one.
    public static let uploadSuperseded: Self = "upload_superseded"
    /// 410: The log does not reach back to the cursor.
    public static let cursorExpired: Self = "cursor_expired"
    /// 413: The body is larger than allowed.
    public static let bodyTooLarge: Self = "body_too_large"
    /// 413: The file is larger than `Upload-Limit` says.
    public static let attachmentTooLarge: Self = "attachment_too_large"
    /// 414: The URL is too long.
    public static let targetTooLong: Self = "target_too_long"
    /// 415: The body is not `application/json`, or not what an upload needs.
    public static let unsupportedMediaType: Self = "unsupported_media_type"
    /// 416: The file ends before this range; see `Content-Range`.
    public static let rangeNotSatisfiable: Self = "range_not_satisfiable"
    /// 417: An `Expect` other than `100-continue`.
    public static let expectationFailed: Self = "expectation_failed"
    /// 422: Fields or parameters are not valid: see `errors`.
    public static let invalid: Self = "invalid"
    /// 422: An account has as many threads as allowed.
    public static let tooManyThreads: Self = "too_many_threads"
    /// 422: The service sends no alerts to this platform.
    public static let pushNotConfigured: Self = "push_not_configured"
    /// 422: The idempotency key came with another request before.
    public static let idempotencyKeyReused: Self = "idempotency_key_reused"
    /// 422: The call takes no idempotency key.
    public static let idempotencyKeyUnsupported: Self = "idempotency_key_unsupported"
    /// 429: Too many requests (limits.md).
    public static let rateLimited: Self = "rate_limited"
    /// 431: The headers are too large.
    public static let headersTooLarge: Self = "headers_too_large"
    /// 500: A fault of the service.
    public static let internalError: Self = "internal_error"
    /// 501: A transfer coding that the service does not have.
    public static let notImplemented: Self = "not_implemented"
    /// 503: The service is busy.
    public static let overloaded: Self = "overloaded"
    /// 503: The database is down, or the node is stopping.
    public static let unavailable: Self = "unavailable"
    /// 503: The service sends no mail.
    public static let mailNotConfigured: Self = "mail_not_configured"
    /// 505: An HTTP version other than 1.0 and 1.1.
    public static let versionNotSupported: Self = "version_not_supported"

    /// The answer is no problem document, for example a proxy's page.
    public static let unexpectedAnswer: Self = "unexpected_answer"
}
