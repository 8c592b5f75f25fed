// Writes the body of a streamed answer, from any thread.

import NIOCore

/// The body of an answer begun by ``Reply/stream(_:headers:contentLength:operation:)``, or by
/// ``Reply/stream(_:headers:operation:first:source:)`` together with `sendAll`. One writer at a time.
///
/// From any thread. After the client has gone, `send` does nothing and `write` throws.
package struct ResponseStream: Sendable {
    let reference: ConnectionReference
    let id: UInt32

    /// Sends a piece without waiting. A client that falls further behind than ``TransportSettings/unsentByteCountMax``
    /// is cut off.
    package func send(_ bytes: ByteBuffer) {
        reference.onLoop { [id] in $0.pushStream(id, bytes) }
    }

    /// Sends a piece, and returns when the client has taken enough for the next one. Throws if the client is gone.
    package func write(_ bytes: ByteBuffer) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            guard !reference.isClosed.load(ordering: .acquiring) else {
                return continuation.resume(throwing: ChannelError.ioOnClosedChannel)
            }
            let eventLoop = reference.connection.eventLoop
            if eventLoop.inEventLoop {
                reference.connection.value.writeStream(id, bytes, continuation)
            } else {
                eventLoop.execute { reference.connection.value.writeStream(id, bytes, continuation) }
            }
        }
    }

    /// Ends the body. Fewer bytes than were announced cut the connection.
    /// - Parameter last: sent before the end. The stream's source is not asked for another piece after it.
    package func end(_ last: ByteBuffer = ByteBuffer()) {
        reference.onLoop { [id] in
            if $0.writeStream(id, last) { $0.endStream(id) }
        }
    }

    /// Cuts the connection, so that the client sees that the body is incomplete.
    package func abort() { reference.onLoop { [id] in $0.abortStream(id) } }
}
