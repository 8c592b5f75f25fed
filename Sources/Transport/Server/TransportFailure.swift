// The requests that the transport refuses without asking the handler. The handler renders the answer:
// `RequestHandler.problem(for:)`.

import HTTPTypes
import NIOHTTP1

/// Why a request did not reach the handler, or got no answer from it.
package enum TransportFailure: Error, Hashable, Sendable, CaseIterable {
    /// Not HTTP/1.1 by RFC 9112, or a form that two parsers could read differently.
    case malformed
    case targetTooLong
    case headersTooLarge
    case bodyTooLarge
    case headerTimeout
    case bodyTimeout
    /// An `Expect` other than `100-continue`.
    case expectationFailed
    /// A `Transfer-Encoding` other than `chunked`.
    case notImplemented
    case versionNotSupported
    /// The server has reached its limit. The answer should carry `Retry-After`.
    case tooManyConnections
    /// The bodies of all clients together take too much memory. The answer should carry `Retry-After`.
    case tooManyBodies
    /// The handler released its `Reply` without an answer: an error of the service, never of the client.
    case unanswered

    package var status: HTTPResponse.Status {
        switch self {
        case .malformed: .badRequest
        case .targetTooLong: .uriTooLong
        case .headersTooLarge: .requestHeaderFieldsTooLarge
        case .bodyTooLarge: .contentTooLarge
        case .headerTimeout, .bodyTimeout: .requestTimeout
        case .expectationFailed: .expectationFailed
        case .notImplemented: .notImplemented
        case .versionNotSupported: .httpVersionNotSupported
        case .tooManyConnections, .tooManyBodies: .serviceUnavailable
        case .unanswered: .internalServerError
        }
    }
}

extension TransportFailure {
    /// The failure that an error of NIO's parser (llhttp) stands for.
    init(_ error: HTTPParserError) {
        switch error {
        case .headerOverflow: self = .headersTooLarge
        case .invalidVersion: self = .versionNotSupported
        default: self = .malformed
        }
    }
}
