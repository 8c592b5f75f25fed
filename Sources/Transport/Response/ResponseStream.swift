// An answer whose body comes piece by piece.

import NIOCore

/// Writes the body of an answer begun by ``Reply/stream(_:headers:contentLength:operation:)``, or by
/// ``Reply/stream(_:headers:operation:first:source:)`` with `sendAll`. One writer at a time.
///
/// From any thread. After the client has gone, writes are dropped (`send`) or throw (`write`).
package struct ResponseStream: Sendable {
    let handle: ConnectionReference
    let id: UInt32

    /// Sends a piece without waiting, so without a task that waits. A client that falls further behind than
    /// ``TransportSettings/unsentByteCountMax`` is cut.
    package func send(_ bytes: ByteBuffer) {
        handle.onLoop { [id] in $0.pushStream(id, bytes) }
    }

    /// Sends a piece and returns when the client has taken enough for more to be welcome. Throws once it is gone.
    package func write(_ bytes: ByteBuffer) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            guard !handle.isClosed.load(ordering: .acquiring) else {
                return continuation.resume(throwing: ChannelError.ioOnClosedChannel)
            }
            let eventLoop = handle.connection.eventLoop
            if eventLoop.inEventLoop {
                handle.connection.value.writeStream(id, bytes, continuation)
            } else {
                eventLoop.execute { handle.connection.value.writeStream(id, bytes, continuation) }
            }
        }
    }

    /// The body is whole. Fewer bytes than were announced cut the connection.
    /// - Parameter last: sent before the end. The stream's source is not asked for another piece after it.
    package func end(_ last: ByteBuffer = ByteBuffer()) {
        handle.onLoop { [id] in
            if $0.writeStream(id, last) { $0.endStream(id) }
        }
    }

    /// The body will never be whole: cuts the connection, so that the client sees it.
    package func abort() { handle.onLoop { [id] in $0.abortStream(id) } }
}

extension HTTPConnection {
    fileprivate func writeStream(
        _ id: UInt32, _ bytes: ByteBuffer, _ continuation: CheckedContinuation<Void, any Error>
    ) {
        guard writeStream(id, bytes), let context else {
            return continuation.resume(throwing: ChannelError.ioOnClosedChannel)
        }
        if context.channel.isWritable {
            continuation.resume()
        } else {
            writableWaiter.take()?.resume(throwing: ChannelError.ioOnClosedChannel)
            writableWaiter = continuation
        }
    }
}
