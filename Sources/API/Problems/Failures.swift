// Maps errors to problems: errors of the API, and refusals of the transport.
import Credentials
import Domain
import Logging
import Transport

/// An error as a problem, with the cause for the log.
struct Failure {
    var problem: Problem
    /// It is nil if the client caused the error.
    var cause: String?

    init(_ error: any Error) {
        switch error {
        case let error as Problem:
            self.init(error, cause: error.code == .internalError ? error.detail : nil)
        case let error as Invalid: self.init(Problem(error))
        case let error as JSONError: self.init(Problem(error))
        case is CancellationError: self.init(.stopping)
        case CredentialsError.hasherBusy:
            self.init(
                Problem(
                    .overloaded, "Too many sign-ins are running. Retry after the seconds in Retry-After.",
                    retryAfterS: 2))
        default: self.init(.internalError, cause: "\(error)")
        }
    }

    private init(_ problem: Problem, cause: String? = nil) {
        self.problem = problem
        self.cause = cause
    }

    /// The answer. An internal error gets a request id, which finds its cause in the log.
    func answer(requestID: String, logger: Logger) -> Answer {
        guard let cause else { return ProblemDocument.answer(problem) }
        logger.error("request failed; the client got 500", metadata: ["request": "\(requestID)", "reason": "\(cause)"])
        return ProblemDocument.answer(problem, requestID: requestID)
    }
}

extension Problem {
    static let internalError = Problem(.internalError, "")
    static let bodyTooLarge = Problem(.bodyTooLarge, "The body is too large for this call. Send a smaller body.")

    static func bodyTooLarge(byteCountMax: Int) -> Problem {
        Problem(
            .bodyTooLarge,
            "The body is larger than the \(byteCountMax) bytes that this call accepts. Send a smaller body.")
    }

    /// The problem for a request that the transport refused.
    init(_ failure: TransportFailure) {
        switch failure {
        case .malformed:
            self.init(
                .malformedRequest,
                "The request is not valid HTTP/1.1, or two parsers could read it differently. "
                    + "Check its request line and headers.")
        case .targetTooLong: self.init(.targetTooLong, "The path and query are too long. Shorten them.")
        case .headersTooLarge:
            self.init(
                .headersTooLarge, "The request has too many header bytes or fields. Send fewer or shorter headers.")
        case .bodyTooLarge: self = .bodyTooLarge
        case .headerTimeout:
            self.init(.requestTimeout, "The headers took too long to arrive. Send the request again, without pauses.")
        case .bodyTimeout:
            self.init(.requestTimeout, "The body took too long to arrive. Send the request again, without pauses.")
        case .expectationFailed:
            self.init(
                .expectationFailed, "The only Expect value accepted is 100-continue. Change or remove the header.")
        case .notImplemented:
            self.init(
                .notImplemented, "The only Transfer-Encoding accepted is chunked. Change or remove the header.")
        case .versionNotSupported:
            self.init(.versionNotSupported, "This service supports HTTP/1.0 and HTTP/1.1 only. Use HTTP/1.1.")
        case .tooManyConnections:
            self.init(
                .overloaded,
                "This node has reached its limit of connections. Retry after the seconds in Retry-After.",
                retryAfterS: 2)
        case .tooManyBodies:
            self.init(
                .overloaded,
                "This node is receiving too many request bodies. Retry after the seconds in Retry-After.",
                retryAfterS: 2)
        case .unanswered: self = .internalError
        }
    }
}
