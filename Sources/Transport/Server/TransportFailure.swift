// What the transport itself refuses. How a refusal looks on the wire is the owner's: `RequestHandler.problem(for:)`.

import HTTPTypes
import NIOHTTP1

/// Why a request never reached the handler, or got no answer from it.
package enum TransportFailure: Error, Hashable, Sendable, CaseIterable {
    /// Not HTTP/1.1 as RFC 9112 has it, or a shape that two parsers could read differently.
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
    /// The server is at its limit; the answer should carry `Retry-After`.
    case tooManyConnections
    /// Bodies of all clients together take too much memory; the answer should carry `Retry-After`.
    case tooManyBodies
    /// The handler let go of its `Reply` without an answer: a fault of ours, never the client's.
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
    /// What llhttp's refusal means to the client.
    init(_ error: HTTPParserError) {
        switch error {
        case .headerOverflow: self = .headersTooLarge
        case .invalidVersion: self = .versionNotSupported
        default: self = .malformed
        }
    }
}
