// The seam between the transport and what serves: the handler, and the answer it gives.

import HTTPTypes
import NIOCore

/// What serves the requests of an ``HTTPServer``.
package protocol RequestHandler: Sendable {
    /// Decides about a request whose head has come and whose body has not, before the body is read. `head.body` is
    /// empty. Called on the connection's event loop; must not block.
    ///
    /// A request that came whole in one read goes to ``handle(_:_:)`` without this call, so `handle` must judge the same
    /// things by the same rules.
    func decide(_ head: InboundRequest) -> BodyDecision

    /// Called on the connection's event loop, one request at a time on a connection. Must not block. It may answer at
    /// once, or later from any thread. While a request waits, hold the ``Reply`` alone: the request costs memory.
    func handle(_ request: InboundRequest, _ reply: Reply)

    /// The answer for what the transport refuses; the connection closes after it, except for `.unanswered`.
    /// Called on an event loop; must not block.
    func problem(for failure: TransportFailure, _ number: RequestNumber) -> OutboundResponse

    /// Hears of each request when its answer is on its way, refused ones included, for figures and logs. Not of those
    /// whose client went away first. Called on an event loop, for every request: must be quick.
    func ended(_ request: EndedRequest)
}

/// What becomes of a body that is still to come.
package enum BodyDecision: Sendable {
    /// The body is gathered if it has at most this many bytes, and the whole request goes to the handler. A larger one is
    /// refused with the problem for `.bodyTooLarge`.
    case accept(byteCountMax: Int)
    /// The body is not read: this is the answer. What remains of a small body is dropped and the connection goes on;
    /// otherwise the connection closes.
    case answer(OutboundResponse)
}

/// How a request ended.
package struct EndedRequest: Sendable {
    package let number: RequestNumber
    /// As the answer had it.
    package let operation: UInt8
    package let status: Int
    /// From the whole request's being there to the whole answer's being written; nil for one that had to wait.
    package let took: Duration?
}

/// A whole answer.
///
/// The transport writes `Content-Length`, `Connection`, `Transfer-Encoding` and `Date` itself and ignores them in
/// `headers`; it adds `X-Request-Id`, what browsers must not do with any answer, and `Cache-Control: no-store` where
/// there is no other. `HTTPFields` cannot hold a line break, so neither can the answer's head.
/// An answer to HEAD carries the length of `body`, or else the `Content-Length` in `headers`, and no body.
package struct OutboundResponse: Sendable {
    package var status: HTTPResponse.Status
    package var headers: HTTPFields
    package var body: ByteBuffer
    /// Whether the connection closes after this answer.
    package var closesConnection: Bool
    /// Which of the handler's operations this answers, in numbers of its own: for its figures. 0 is none.
    package var operation: UInt8
    /// Whether it had to wait until something happened, so that the time it took says nothing of the service.
    package var hasWaited = false

    package init(
        status: HTTPResponse.Status, headers: HTTPFields = [:], body: ByteBuffer = ByteBuffer(),
        closesConnection: Bool = false, operation: UInt8 = 0
    ) {
        self.operation = operation
        self.status = status
        self.headers = headers
        self.body = body
        self.closesConnection = closesConnection
    }
}
