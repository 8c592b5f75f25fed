// The right to answer one request. Which bytes are written is decided by `HTTPConnection`.

import HTTPTypes
import NIOCore
import Synchronization

/// The right to answer one request, once.
///
/// A reply that is released without an answer sends the handler's `.unanswered` problem, so no request hangs.
///
/// A client counts as gone when its connection breaks. A client that only closes its sending side looks the same until
/// something is sent. With ``onClientGone(_:)`` registered such a request ends at once. Otherwise, as for an ordinary
/// short request, it may be answered for ``TransportSettings/halfCloseGrace``. So clients that half-close (`nc -N`) get
/// their answer.
package final class Reply: Sendable {
    let reference: ConnectionReference
    /// The request of the connection that this answers.
    let id: UInt32
    private let isUsed = Atomic(false)

    init(reference: ConnectionReference, id: UInt32) {
        self.reference = reference
        self.id = id
    }

    deinit {
        guard markUsed(), !isClientGone else { return }
        // Later, even on the loop: the code that releases the reply may hold a lock that the next request's handler
        // needs.
        eventLoop.execute { [reference, id] in reference.connection.value.answerUnanswered(id) }
    }

    package var eventLoop: any EventLoop { reference.connection.eventLoop }

    /// Whether the connection is known to be closed, so that an answer would be dropped.
    package var isClientGone: Bool { reference.isClosed.load(ordering: .acquiring) }

    /// Sends the answer. From any thread. Does nothing if the client has gone. A second call is a programming error: it
    /// stops a debug build and is ignored in a release build.
    package func send(_ response: OutboundResponse) {
        guard claim() else { return }
        reference.onLoop { [id] in $0.answer(id, response) }
    }

    /// Sends an interim answer (1xx) such as 104 before the answer. From any thread. An HTTP/1.0 client gets none.
    package func inform(_ status: HTTPResponse.Status, headers: HTTPFields = [:]) {
        assert((102..<200).contains(status.code), "100 and 101 are the transport's")
        reference.onLoop { [id] in $0.inform(id, status, headers) }
    }

    /// Begins an answer whose body is written piece by piece. From any thread. A second answer is treated as in
    /// ``send(_:)``. Without `contentLength` the client gets chunks. With it the caller must write exactly that many
    /// bytes.
    package func stream(
        _ status: HTTPResponse.Status, headers: HTTPFields, contentLength: Int? = nil, operation: UInt8 = 0
    ) -> ResponseStream {
        let stream = ResponseStream(reference: reference, id: id)
        guard claim() else { return stream }
        reference.onLoop { [id] in
            $0.startStream(id, status, headers, contentLength: contentLength, operation: operation)
        }
        return stream
    }

    /// Begins an answer whose body comes from `source`, which is asked for each piece after `first`. From any thread. A
    /// second answer is treated as in ``send(_:)``. The duration of such an answer is not reported.
    package func stream(
        _ status: HTTPResponse.Status, headers: HTTPFields, operation: UInt8 = 0, first: ByteBuffer,
        source: any StreamSource
    ) {
        guard claim() else { return }
        reference.onLoop { [id] in
            $0.startStream(id, status, headers, operation: operation, first: first, source: source)
        }
    }

    /// The body of the answer that this reply has begun.
    package var body: ResponseStream { ResponseStream(reference: reference, id: id) }

    /// Calls `body` once, on the event loop, if the client goes away before the answer, or has gone already. A second
    /// registration replaces the first. From any thread. The type's comment defines when a client is gone.
    package func onClientGone(_ body: @escaping @Sendable () -> Void) {
        onClientGone(atHalfClose: true, body)
    }

    /// - Parameter atHalfClose: whether a client that closes its sending side is gone at once, or after the grace.
    func onClientGone(atHalfClose: Bool, _ body: @escaping @Sendable () -> Void) {
        if isClientGone {
            eventLoop.execute(body)
        } else {
            reference.onLoop { [id] in $0.setGoneHandler(id, GoneHandler(isCalledAtHalfClose: atHalfClose, run: body)) }
        }
    }

    /// Marks the reply as used. Returns true for the first caller.
    private func markUsed() -> Bool { !isUsed.exchange(true, ordering: .acquiringAndReleasing) }

    /// As `markUsed`, and stops a debug build at a second answer.
    func claim() -> Bool {
        let isFirst = markUsed()
        assert(isFirst, "a request must be answered once")
        return isFirst
    }
}
