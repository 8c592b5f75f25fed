// Which error becomes which problem, for requests that reached the API and for those that the transport refused.
import Credentials
import Domain
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Transport

/// An error as a problem, and what the log should hear of it.
struct Failure {
    var problem: Problem
    /// Nil for what is the client's own affair.
    var cause: String?

    init(_ error: any Error) {
        switch error {
        case let error as Problem:
            self.init(error, cause: error.code == .internalError ? error.detail : nil)
        case let error as Invalid: self.init(Problem(error))
        case let error as JSONError: self.init(Problem(error))
        case is CancellationError: self.init(.stopping)
        case CredentialsError.hasherBusy:
            self.init(Problem(.overloaded, "Many people sign in right now. Try again.", retryAfterS: 2))
        case is NIOTooManyBytesError: self.init(.bodyTooLarge)
        case let error as HTTPError: self.init(error)
        default: self.init(.internalError, cause: "\(error)")
        }
    }

    /// The framework's own refusals.
    private init(_ error: HTTPError) {
        switch error.status {
        case .contentTooLarge: self.init(.bodyTooLarge)
        case .badRequest: self.init(Problem(.malformedRequest, "The request can't be read."))
        default: self.init(.internalError, cause: "\(error)")
        }
    }

    private init(_ problem: Problem, cause: String? = nil) {
        self.problem = problem
        self.cause = cause
    }

    /// The answer. A fault of ours gets a request id, by which the log tells more.
    func answer(requestID: String, logger: Logger) -> Answer {
        guard let cause else { return ProblemDocument.answer(problem) }
        logger.error("a request failed", metadata: ["request": "\(requestID)", "reason": "\(cause)"])
        return ProblemDocument.answer(problem, requestID: requestID)
    }
}

extension Problem {
    static let stopping = Problem(.unavailable, "The service is stopping. Try again.", retryAfterS: 1)
    static let internalError = Problem(.internalError, "")
    static let bodyTooLarge = Problem(.bodyTooLarge, "The body is larger than this service takes.")

    /// What the transport refused before the request was whole.
    init(_ failure: TransportFailure) {
        switch failure {
        case .malformed:
            self.init(.malformedRequest, "This is not an HTTP/1.1 request that can be read in one way only.")
        case .targetTooLong: self.init(.targetTooLong, "The request's target is too long.")
        case .headersTooLarge: self.init(.headersTooLarge, "The request's headers are too large or too many.")
        case .bodyTooLarge: self = .bodyTooLarge
        case .headerTimeout: self.init(.requestTimeout, "The request's headers took too long to arrive.")
        case .bodyTimeout: self.init(.requestTimeout, "The request's body took too long to arrive.")
        case .expectationFailed: self.init(.expectationFailed, "The only expectation that can be met is 100-continue.")
        case .notImplemented: self.init(.notImplemented, "The only transfer coding taken is chunked.")
        case .versionNotSupported: self.init(.versionNotSupported, "This service speaks HTTP/1.0 and HTTP/1.1.")
        case .tooManyConnections:
            self.init(.overloaded, "This node has as many connections as it takes.", retryAfterS: 2)
        case .tooManyBodies:
            self.init(.overloaded, "This node is receiving as much as it can hold. Try again.", retryAfterS: 2)
        case .unanswered: self = .internalError
        }
    }
}
