// The interface between the transport and the service: the handler, and the answer that it returns.

import HTTPTypes
import NIOCore

/// Handles the requests of an ``HTTPServer``.
package protocol RequestHandler: Sendable {
    /// Decides, before the body is read, about a request whose head has arrived and whose body has not. `head.body` is
    /// empty. Called on the connection's event loop. Must not block.
    ///
    /// A request that arrived whole in one read goes to ``handle(_:_:)`` without this call, with an ordinary body. So
    /// `handle` must check the same things by the same rules.
    func decide(_ head: InboundRequest) -> BodyDecision

    /// Handles one request of a connection at a time. Called on the connection's event loop. Must not block. It may
    /// answer at once, or later from any thread. While a request waits, hold only the ``Reply``: the request costs
    /// memory.
    func handle(_ request: InboundRequest, _ reply: Reply)

    /// The answer for a request that the transport refuses. The connection closes after it, except for `.unanswered`.
    /// Called on an event loop. Must not block.
    func problem(for failure: TransportFailure, _ number: RequestNumber) -> OutboundResponse

    /// Records a request for metrics and logs when its answer is being sent, refused requests included. Not called if
    /// the client went away first. Called on an event loop for every request, so it must be fast.
    func ended(_ request: EndedRequest)
}

/// The decision about a body that has not arrived yet.
package enum BodyDecision: Sendable {
    /// Reads the body if it has at most this many bytes, and passes the whole request to the handler. A larger body is
    /// refused with the problem for `.bodyTooLarge`.
    case accept(byteCountMax: Int)
    /// Passes the request to the handler at once, with ``InboundRequest/bodyStream``. A declared length above
    /// `byteCountMax` is refused with the problem for `.bodyTooLarge`; chunks above it end the stream with
    /// ``RequestBodyError/tooLarge``. Neither ``TransportSettings/bodyByteCountMax`` nor
    /// ``TransportSettings/bodyTimeout`` applies. Before the handler asks for bytes, memory holds the bytes of at most
    /// one read, and a client that waits for `100 Continue` does not get it.
    case stream(byteCountMax: Int)
    /// Answers without reading the body. The rest of a small body is dropped and the connection stays open. Otherwise
    /// the connection closes.
    case answer(OutboundResponse)
}

/// How a request ended.
package struct EndedRequest: Sendable {
    package let number: RequestNumber
    /// The operation, as in the answer.
    package let operation: UInt8
    package let status: Int
    /// The time from the complete request to the complete answer, or to the head of a streamed one: the rest depends on
    /// the client. Nil for a request that had to wait, or whose body never arrived.
    package let took: Duration?
}

/// A whole answer.
///
/// The transport writes `Content-Length`, `Connection`, `Transfer-Encoding` and `Date` itself and ignores them in
/// `headers`. It adds `X-Request-Id`, the headers for browsers, and `Cache-Control: no-store` if there is no other.
/// `HTTPFields` cannot hold a line break, so the head cannot either. An answer to HEAD carries the length of `body`, or
/// else the `Content-Length` in `headers`, and no body.
package struct OutboundResponse: Sendable {
    package var status: HTTPResponse.Status
    package var headers: HTTPFields
    package var body: ByteBuffer
    /// Whether the connection closes after this answer.
    package var closesConnection: Bool
    /// The handler's number for the operation, for its metrics. 0 is none.
    package var operation: UInt8
    /// Whether the request waited for an event, so that its duration says nothing about the service.
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
