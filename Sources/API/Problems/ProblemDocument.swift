// Renders every refusal as a problem document (RFC 9457). Failures.swift maps errors to problems.
import Domain
import HTTPTypes
import NIOCore
import Transport

extension ProblemCode {
    /// The status and the short title of each code.
    var shape: (status: HTTPResponse.Status, title: String) {
        switch self {
        case .malformedRequest: (.badRequest, "Malformed request")
        case .malformedJSON: (.badRequest, "Malformed JSON")
        case .unauthenticated: (.unauthorized, "Not signed in")
        case .invalidToken: (.unauthorized, "Invalid token")
        case .wrongCredentials: (.unauthorized, "Wrong credentials")
        case .notJoined: (.forbidden, "Not joined")
        case .notAllowed: (.forbidden, "Not allowed")
        case .notReachable: (.forbidden, "Not reachable")
        case .accountSuspended: (.forbidden, "Account suspended")
        case .memberLeft: (.forbidden, "Member left")
        case .notAMember: (.forbidden, "Not a member")
        case .wrongPassword: (.forbidden, "Wrong password")
        case .wrongCode: (.forbidden, "Wrong code")
        case .registrationClosed: (.forbidden, "Registration closed")
        case .invitationRequired: (.forbidden, "Invitation required")
        case .invitationInvalid: (.forbidden, "Invitation invalid")
        case .quotaExceeded: (.forbidden, "Quota exceeded")
        case .policyDenied: (.forbidden, "Denied by the policy")
        case .scopeMissing: (.forbidden, "Scope missing")
        case .notFound: (.notFound, "Not found")
        case .threadNotFound: (.notFound, "Thread not found")
        case .messageNotFound: (.notFound, "Message not found")
        case .memberNotFound: (.notFound, "Member not found")
        case .userNotFound: (.notFound, "User not found")
        case .sessionNotFound: (.notFound, "Session not found")
        case .attachmentNotFound: (.notFound, "Attachment not found")
        case .consumerNotFound: (.notFound, "Consumer not found")
        case .webhookNotFound: (.notFound, "Webhook not found")
        case .hookNotFound: (.notFound, "Hook not found")
        case .invitationNotFound: (.notFound, "Invitation not found")
        case .commandNotFound: (.notFound, "Command not found")
        case .reportNotFound: (.notFound, "Report not found")
        case .holdNotFound: (.notFound, "Hold not found")
        case .reviewNotFound: (.notFound, "Review not found")
        case .keyNotFound: (.notFound, "Key not found")
        case .failureNotFound: (.notFound, "Failure not found")
        case .methodNotAllowed: (.methodNotAllowed, "Method not allowed")
        case .requestTimeout: (.requestTimeout, "Request timeout")
        case .usernameTaken: (.conflict, "Username taken")
        case .emailTaken: (.conflict, "E-mail address taken")
        case .externalIDTaken: (.conflict, "External id taken")
        case .threadKindDiffers: (.conflict, "Thread kind differs")
        case .noPassword: (.conflict, "No password")
        case .emailNeeded: (.conflict, "E-mail address needed")
        case .idTaken: (.conflict, "Id taken")
        case .directMembersFixed: (.conflict, "Direct members are fixed")
        case .lastOwner: (.conflict, "Last owner")
        case .titleTaken: (.conflict, "Title taken")
        case .wordTaken: (.conflict, "Word taken")
        case .messageDeleted: (.conflict, "Message deleted")
        case .attachmentNotReady: (.conflict, "Attachment not ready")
        case .attachmentRefused: (.conflict, "Attachment refused")
        case .attachmentInUse: (.conflict, "Attachment in use")
        case .holdReleased: (.conflict, "Hold released")
        case .failureNotRetryable: (.conflict, "Failure cannot be retried")
        case .reviewNotApprovable: (.conflict, "Review cannot be approved")
        case .reviewDecided: (.conflict, "Review was decided")
        case .uploadOffsetMismatch: (.conflict, "Upload offset mismatch")
        case .uploadComplete: (.conflict, "Upload complete")
        case .uploadSuperseded: (.conflict, "Upload superseded")
        case .cursorBehind: (.conflict, "Cursor behind")
        case .importEnded: (.conflict, "Import ended")
        case .importSuperseded: (.conflict, "Import superseded")
        case .cursorExpired: (.gone, "Cursor expired")
        case .bodyTooLarge: (.contentTooLarge, "Body too large")
        case .attachmentTooLarge: (.contentTooLarge, "Attachment too large")
        case .targetTooLong: (.uriTooLong, "Target too long")
        case .unsupportedMediaType: (.unsupportedMediaType, "Unsupported media type")
        case .rangeNotSatisfiable: (.rangeNotSatisfiable, "Range not satisfiable")
        case .expectationFailed: (.expectationFailed, "Expectation failed")
        case .invalid: (.unprocessableContent, "Invalid request")
        case .tooManyThreads: (.unprocessableContent, "Too many threads")
        case .tooManyConsumers: (.unprocessableContent, "Too many consumers")
        case .tooManyWebhooks: (.unprocessableContent, "Too many webhooks")
        case .tooManyCommands: (.unprocessableContent, "Too many commands")
        case .tooManySessions: (.unprocessableContent, "Too many sessions")
        case .pushNotConfigured: (.unprocessableContent, "Push not configured")
        case .idempotencyKeyReused: (.unprocessableContent, "Idempotency key used for another request")
        case .idempotencyKeyUnsupported: (.unprocessableContent, "Idempotency key not supported")
        case .rateLimited: (.tooManyRequests, "Rate limited")
        case .headersTooLarge: (.requestHeaderFieldsTooLarge, "Headers too large")
        case .internalError: (.internalServerError, "Internal error")
        case .notImplemented: (.notImplemented, "Not implemented")
        case .overloaded: (.serviceUnavailable, "Overloaded")
        case .unavailable: (.serviceUnavailable, "Unavailable")
        case .mailNotConfigured: (.serviceUnavailable, "Mail not configured")
        case .versionNotSupported: (.httpVersionNotSupported, "HTTP version not supported")
        }
    }
}

/// `{type, title, status, detail, code, errors?, request_id?}`, as `application/problem+json`.
package enum ProblemDocument {
    /// Shown in place of the cause of an internal error, which may hold SQL or secrets.
    private static let internalErrorDetail =
        "The service failed to process the request. Retry. If that fails too, report the answer's X-Request-Id."

    /// - Parameters:
    ///   - requestID: set for internal errors, whose cause is only in the log.
    ///   - extra: members of this kind of problem, after the common ones.
    static func answer(
        _ problem: Problem, requestID: String? = nil, extra: [(String, JSONText)] = []
    ) -> Answer {
        let (status, title) = problem.code.shape
        let code = problem.policyCode ?? problem.code.rawValue
        var writer = JSONWriter(reserving: 512)
        writer.raw("{\"type\":")
        writer.write("urn:parley:problem:\(code)")
        writer.raw(",\"title\":")
        writer.write(title)
        writer.raw(",\"status\":")
        writer.write(status.code)
        writer.raw(",\"detail\":")
        writer.write(problem.code == .internalError ? internalErrorDetail : problem.detail)
        writer.raw(",\"code\":")
        writer.write(code)
        if !problem.fields.isEmpty { writer.writeErrors(problem.fields) }
        if let requestID {
            writer.raw(",\"request_id\":")
            writer.write(requestID)
        }
        for (key, value) in extra {
            writer.raw(",")
            writer.write(key)
            writer.raw(":")
            writer.raw(value)
        }
        writer.raw("}")
        return Answer(
            status: status, headers: headers(problem, status), body: ByteBuffer(bytes: writer.utf8))
    }

    package static func response(_ problem: Problem, extra: [(String, JSONText)] = []) -> OutboundResponse {
        answer(problem, extra: extra).outbound
    }

    private static func headers(_ problem: Problem, _ status: HTTPResponse.Status) -> HTTPFields {
        var headers = Headers.problem
        switch status.code {
        case 401:
            // RFC 6750, 3.1: names the error if an invalid token was sent.
            headers[.wwwAuthenticate] = problem.code == .invalidToken ? "Bearer error=\"invalid_token\"" : "Bearer"
        case 429:
            let waitS = problem.retryAfterS ?? 1
            headers[.retryAfter] = String(waitS)
            if let limit = problem.limit {
                // draft-ietf-httpapi-ratelimit-headers-10: lists of limit names with parameters.
                headers[.rateLimit] = "\"\(limit.name)\";r=0;t=\(waitS)"
                headers[.rateLimitPolicy] = "\"\(limit.name)\";q=\(limit.quota);w=\(limit.windowS)"
            }
        // While the database is unavailable thousands are refused in the same instant. The jitter spreads their
        // retries.
        case 503: headers[.retryAfter] = String((problem.retryAfterS ?? 1) + .random(in: 0...2))
        default: break
        }
        return headers
    }
}

extension HTTPField.Name {
    static let rateLimit = Self("RateLimit")!
    static let rateLimitPolicy = Self("RateLimit-Policy")!
}

extension JSONWriter {
    fileprivate mutating func writeErrors(_ fields: [Problem.Field]) {
        raw(",\"errors\":[")
        for (index, field) in fields.enumerated() {
            if index > 0 { raw(",") }
            raw("{\"field\":")
            write(field.field)
            raw(",\"detail\":")
            write(field.detail)
            raw("}")
        }
        raw("]")
    }
}
