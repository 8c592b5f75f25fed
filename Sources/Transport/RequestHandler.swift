// The seam between the transport and what serves: the handler, and the answer it gives.

import HTTPTypes
import NIOCore

/// What serves the requests of an ``HTTPServer``.
package protocol RequestHandler: Sendable {
    /// Called on the connection's event loop, one request at a time on a connection. Must not block. It may answer at
    /// once, or later from any thread. While a request waits, hold the ``Reply`` alone: the request costs memory.
    func handle(_ request: InboundRequest, _ reply: Reply)

    /// The answer for what the transport refuses; the connection closes after it, except for `.unanswered`.
    /// Called on an event loop; must not block.
    func problem(for failure: TransportFailure) -> OutboundResponse
}

/// A whole answer.
///
/// The transport writes `Content-Length`, `Connection` and `Transfer-Encoding` itself and ignores them in `headers`;
/// it adds `Date`. `HTTPFields` cannot hold a line break, so neither can the answer's head.
/// An answer to HEAD carries the length of `body`, or else the `Content-Length` in `headers`, and no body.
package struct OutboundResponse: Sendable {
    package var status: HTTPResponse.Status
    package var headers: HTTPFields
    package var body: ByteBuffer
    /// Whether the connection closes after this answer.
    package var closesConnection: Bool

    package init(
        status: HTTPResponse.Status, headers: HTTPFields = [:], body: ByteBuffer = ByteBuffer(),
        closesConnection: Bool = false
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.closesConnection = closesConnection
    }
}
