// The body of a streamed request, as the handler reads it. `Upload` is the connection's side.

import NIOCore
import Synchronization

/// Why a streamed body ended early. Every byte that arrived before is delivered first.
package enum RequestBodyError: Error, Hashable, Sendable, CaseIterable {
    /// The connection broke, or the client closed its sending side.
    case clientGone
    /// The client sent less than ``TransportSettings/uploadByteRateMin``.
    case tooSlow
    /// The chunks are larger than the handler's decision allows. The bytes up to the limit are delivered.
    case tooLarge
    /// The chunks are not valid.
    case malformed
    /// The server drains. The request should be answered soon; the connection closes after the answer.
    case stopping
    /// The handler has ended the body because it needs the slot for another client.
    case displaced
    /// The request has been answered. The rest of the body is dropped.
    case answered
}

/// The body of a request that ``BodyDecision/stream(byteCountMax:)`` let in. Has one consumer, in any thread.
///
/// Reading from the client pauses while ``TransportSettings/uploadBufferByteCount`` bytes wait for the consumer. The
/// stream ends with nil, or throws a ``RequestBodyError``. A cancelled task still gets what has arrived; it throws
/// `CancellationError` instead of waiting, and then no byte is lost.
package final class RequestBodyStream: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer

    /// The declared `Content-Length`. Nil for a body in chunks.
    package let declaredByteCount: Int?
    private let bufferByteCount: Int
    private let reference: ConnectionReference
    private let state: Mutex<State>

    /// - Parameter bufferByteCount: the number of waiting bytes at which reading pauses.
    init(declaredByteCount: Int?, bufferByteCount: Int, reference: ConnectionReference) {
        self.declaredByteCount = declaredByteCount
        self.bufferByteCount = bufferByteCount
        self.reference = reference
        state = Mutex(State())
    }

    private struct State {
        var pieces = BodyPieces()
        /// How the body ended. Nil while it arrives.
        var end: Result<Void, RequestBodyError>?
        var waiter: CheckedContinuation<ByteBuffer?, any Error>?
        /// The connection waits for the consumer's next call.
        var connectionWaits = false

        /// The next piece, or the end. Nil if the consumer must wait.
        mutating func take() -> Result<ByteBuffer?, any Error>? {
            if let piece = pieces.popFirst() { return .success(piece) }
            return end?.map { nil }.mapError { $0 }
        }

        /// Removes the waiter if there is something for it.
        mutating func serveWaiter() -> (CheckedContinuation<ByteBuffer?, any Error>, Result<ByteBuffer?, any Error>)? {
            guard let waiter, let result = take() else { return nil }
            self.waiter = nil
            return (waiter, result)
        }

        /// Whether the connection must be woken: it waits, and there is room again.
        mutating func wakesConnection(below byteCount: Int) -> Bool {
            guard connectionWaits, pieces.byteCount < byteCount else { return false }
            connectionWaits = false
            return true
        }
    }

    // MARK: The consumer's side

    package struct AsyncIterator: AsyncIteratorProtocol {
        let stream: RequestBodyStream

        package mutating func next() async throws -> ByteBuffer? { try await stream.next() }
    }

    package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: self) }

    private func next() async throws -> ByteBuffer? {
        let (ready, wakes) = state.withLock { state in
            let ready = state.take()
            return (ready, state.wakesConnection(below: bufferByteCount))
        }
        if wakes { wakeConnection() }
        if let ready { return try ready.get() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (other, served) = state.withLock { state in
                    let other = state.waiter
                    state.waiter = continuation
                    return (other, state.serveWaiter())
                }
                assert(other == nil, "a request body has one consumer")
                other?.resume(throwing: CancellationError())
                if let (waiter, result) = served { waiter.resume(with: result) }
                // Cancelled before the waiter was stored.
                if Task.isCancelled { cancelWaiter() }
            }
        } onCancel: {
            cancelWaiter()
        }
    }

    private func cancelWaiter() { state.withLock { $0.waiter.take() }?.resume(throwing: CancellationError()) }

    private func wakeConnection() { reference.onLoop { $0.uploadIsAwaited(self) } }

    fileprivate func displace() { reference.onLoop { $0.uploadIsDisplaced(self) } }

    // MARK: The connection's side

    /// Appends a piece. The consumer gets it at the next `deliver`, so that many small pieces become one.
    func append(_ piece: ByteBuffer) { state.withLock { $0.pieces.append(piece) } }

    func deliver() {
        if let (waiter, result) = state.withLock({ $0.serveWaiter() }) { waiter.resume(with: result) }
    }

    /// Ends the body, and delivers. Only the first end counts.
    func end(_ end: Result<Void, RequestBodyError>) {
        let served = state.withLock { state in
            if state.end == nil { state.end = end }
            return state.serveWaiter()
        }
        if let (waiter, result) = served { waiter.resume(with: result) }
    }

    /// Bytes that wait for the consumer.
    var waitingByteCount: Int { state.withLock { $0.pieces.byteCount } }

    /// Whether more may be read. If not, the connection's `uploadIsAwaited` is called once there is room.
    func hasRoom() -> Bool {
        state.withLock { state in
            let hasRoom = state.pieces.byteCount < bufferByteCount
            if !hasRoom { state.connectionWaits = true }
            return hasRoom
        }
    }

    /// Calls the connection's `uploadIsAwaited` when the consumer asks for bytes.
    func wakeWhenAwaited() { state.withLock { $0.connectionWaits = true } }
}

/// The pieces of a body: the whole one as a single piece, or those of a stream.
package struct RequestBody: AsyncSequence, Sendable {
    let whole: ByteBuffer
    let stream: RequestBodyStream?

    package struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var whole: ByteBuffer?
        fileprivate var rest: RequestBodyStream.AsyncIterator?

        package mutating func next() async throws -> ByteBuffer? {
            if let whole = whole.take(), whole.readableBytes > 0 { return whole }
            return try await rest?.next()
        }
    }

    /// Ends a streamed body early. The consumer gets what has arrived, and then ``RequestBodyError/displaced``. From any
    /// thread.
    package func displace() { stream?.displace() }

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(whole: whole, rest: stream?.makeAsyncIterator())
    }
}

/// Bytes that wait for the consumer, in order.
struct BodyPieces {
    /// A piece of at least this size stays a slice of the received bytes. Smaller ones are copied together, because each
    /// slice keeps its whole receive buffer (up to 64 KiB) in memory.
    private static let sliceByteCountMin = 32 * 1024

    private var pieces = CircularBuffer<ByteBuffer>()
    private(set) var byteCount = 0

    mutating func append(_ piece: ByteBuffer) {
        byteCount += piece.readableBytes
        if piece.readableBytes < Self.sliceByteCountMin, let last = pieces.indices.last,
            pieces[last].readableBytes < Self.sliceByteCountMin
        {
            pieces[last].writeImmutableBuffer(piece)
        } else {
            pieces.append(piece)
        }
    }

    mutating func popFirst() -> ByteBuffer? {
        guard let piece = pieces.popFirst() else { return nil }
        byteCount -= piece.readableBytes
        return piece
    }
}
