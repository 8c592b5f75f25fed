// The phases of a connection, each with the data that exists only in it. Values: no I/O, no clock.

import NIOCore

/// The phases of a connection.
///
/// ```
/// new ---> head --> body --> waiting --> (streaming) --> idle --> head ...
///   |        |        |         |             |
///   +--------+--------+---------+-------------+--> lingering --> closed
///                     +--> dropping --> idle
/// ```
enum ConnectionPhase {
    /// Nothing has been received since the connection was opened. Ends by `headerTimeout`.
    case new(since: NIODeadline)
    /// A head is arriving. Ends by `headerTimeout`.
    case head
    /// A body is arriving. Ends by `bodyTimeout`.
    case body
    /// The handler has the request. The transport sets no limit on how long.
    case waiting(RequestState)
    /// The head of a streamed answer has been written.
    case streaming(RequestState, BodyStream)
    /// Kept alive: the last answer is complete and the next request has not begun. Ends by `idleTimeout`.
    case idle(since: NIODeadline)
    /// The answer was sent before the body arrived. The rest of the body is read and dropped. Ends by `bodyTimeout`.
    case dropping
    /// The last answer is being sent. Input is discarded until the client closes, or until `lingerTimeout`.
    case lingering
    case closed

    /// Whether input still counts as requests.
    var acceptsInput: Bool {
        switch self {
        case .new, .head, .body, .waiting, .streaming, .idle, .dropping: true
        case .lingering, .closed: false
        }
    }

    /// Whether the next request may go to the handler: one is answered after the other.
    var acceptsRequest: Bool {
        switch self {
        case .new, .head, .body, .idle: true
        case .waiting, .streaming, .dropping, .lingering, .closed: false
        }
    }

    var isBody: Bool { if case .body = self { true } else { false } }
    var isIdle: Bool { if case .idle = self { true } else { false } }
    var isLingering: Bool { if case .lingering = self { true } else { false } }
    var isClosed: Bool { if case .closed = self { true } else { false } }

    /// The bytes of a large body that the handler works on, for the loop's count.
    var countedBodyByteCount: Int {
        switch self {
        case .waiting(let request), .streaming(let request, _): request.countedBodyByteCount
        case .new, .head, .body, .idle, .dropping, .lingering, .closed: 0
        }
    }
}

/// A request that is being answered. A waiting poll holds one, so it is small.
struct RequestState {
    let number: RequestNumber
    /// When the request was complete. Nil while its body is streamed. The loop's coarse clock is not exact enough for
    /// this.
    var start: NIODeadline?
    /// Counts the requests of the connection, so that an answer to an earlier one is recognised. 0 before dispatch.
    let id: UInt32
    /// The origin of the web page that asks; see `CrossOriginPolicy`.
    let originNumber: Int
    let isHead: Bool
    let isHTTP10: Bool
    /// Whether the client wants the connection kept open.
    var keepsAlive: Bool
    /// The size of the body if it is large, else 0.
    var countedBodyByteCount = 0
    var goneHandler: GoneHandler?

    /// The time since the request was complete.
    var took: Duration? { start.map { .nanoseconds((.now() - $0).nanoseconds) } }

    /// Whether the request ends when the client closes its sending side.
    var endsAtHalfClose: Bool { goneHandler?.isCalledAtHalfClose ?? false }
}

/// Called once if the client goes away before the answer.
struct GoneHandler {
    let isCalledAtHalfClose: Bool
    let run: @Sendable () -> Void
}

/// The body of a streamed answer, until it ends. An object, so that phases without a stream stay small.
final class BodyStream {
    var framing: BodyFraming
    let operation: UInt8
    let status: Int
    /// The time from the complete request to the head of the answer. Nil if a source writes the body.
    let took: Duration?
    /// Asked for each piece, if no task writes the stream.
    var source: (any StreamSource)?
    /// The source is asked once the channel can be written to again.
    var awaitsRoom = false
    /// The source is being asked.
    var isOfferingRoom = false
    /// The task that waits until more may be written.
    var writableWaiter: CheckedContinuation<Void, any Error>?

    init(framing: BodyFraming, operation: UInt8, status: Int, took: Duration?, source: (any StreamSource)?) {
        self.took = took
        self.framing = framing
        self.operation = operation
        self.status = status
        self.source = source
    }
}
