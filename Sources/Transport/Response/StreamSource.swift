// Streams without a task: a source is asked for the next piece when there is room for it. So at most one piece waits
// for a client, however slowly it reads, and a quiet stream costs only its connection.

import NIOCore

/// The source of a streamed answer; see ``Reply/stream(_:headers:operation:first:source:)``.
package protocol StreamSource: AnyObject, Sendable {
    /// The client has taken what was sent, except for what the channel buffers. The source may send the next piece now
    /// or later. Called on the event loop, once after each piece.
    func streamHasRoom()

    /// The client is gone, or was cut off: later pieces do not arrive. Called on the event loop, once, and not after
    /// the stream's end.
    func clientIsGone()
}

/// A piece of a body, and the same piece framed as a chunk: rendered once for all streams that get it.
struct StreamPiece {
    let bytes: ByteBuffer
    let chunk: ByteBuffer

    init(_ bytes: ByteBuffer) {
        self.bytes = bytes
        var chunk = ByteBuffer()
        chunk.reserveCapacity(bytes.readableBytes + 16)
        chunk.writeChunk(bytes)
        self.chunk = chunk
    }
}
