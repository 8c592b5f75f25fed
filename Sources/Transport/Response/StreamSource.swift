// Streams that no task writes: who has the pieces is asked for the next one whenever there is room for it. What waits
// for a client is then one piece at most, however slowly it reads, and a quiet stream costs its connection only.

import HTTPTypes
import NIOCore

/// What a streamed answer of ``Reply/stream(_:headers:operation:first:source:)`` comes from.
package protocol StreamSource: AnyObject, Sendable {
    /// The client has taken what was sent, but for what the channel buffers: the next piece is welcome, now or later.
    /// On the event loop, once after each piece.
    func streamHasRoom()

    /// The client has gone away, or was cut: nothing that is sent from now on arrives. On the event loop, once, and not
    /// after the stream's end.
    func clientIsGone()
}

/// A piece of a body, and the same framed as a chunk, made once for all who get it.
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

/// Sends each piece on all of its streams, with one hop to each event loop concerned and one rendering for all. Pieces
/// are not empty, and each stream has a source.
package func sendAll(_ pieces: [(bytes: ByteBuffer, streams: [ResponseStream])]) {
    typealias Batch = (executor: LoopTaskExecutor, sends: [(piece: StreamPiece, streams: [ResponseStream])])
    var batches: [Batch] = []
    for (bytes, streams) in pieces where !streams.isEmpty {
        let piece = StreamPiece(bytes)
        var streamsOf: [[ResponseStream]] = Array(repeating: [], count: batches.count)
        for stream in streams where !stream.handle.isClosed.load(ordering: .relaxed) {
            let executor = stream.handle.executor
            // There are as many batches as event loops: a handful.
            let index = batches.firstIndex { $0.executor === executor } ?? batches.count
            if index == batches.count {
                batches.append((executor, []))
                streamsOf.append([])
            }
            streamsOf[index].append(stream)
        }
        for (index, streams) in streamsOf.enumerated() where !streams.isEmpty {
            batches[index].sends.append((piece, streams))
        }
    }
    for batch in batches {
        batch.executor.eventLoop.execute {
            for (piece, streams) in batch.sends {
                for stream in streams where !stream.handle.isClosed.load(ordering: .relaxed) {
                    stream.handle.connection.value.sendPiece(stream.id, piece)
                }
            }
        }
    }
}

extension HTTPConnection {
    func startStream(
        _ id: UInt32, _ status: HTTPResponse.Status, _ headers: HTTPFields, operation: UInt8, first: ByteBuffer,
        source: any StreamSource
    ) {
        guard phase == .waiting, id == requestID else { return }
        startStream(id, status, headers, contentLength: nil, operation: operation)
        streamSource = source
        if requestIsHead {
            // No body is wanted, so there is nothing to stay for.
            endStream(id)
            return source.clientIsGone()
        }
        // From here on it is the source that hears of it.
        goneHandler = nil
        isGoneAtHalfClose = true
        sendPiece(id, StreamPiece(first))
    }

    func sendPiece(_ id: UInt32, _ piece: StreamPiece) {
        guard phase == .streaming, id == requestID else { return }
        if case .chunked = streamFraming { write(piece.chunk) } else { write(piece.bytes) }
        if !isGathering { flushIfNeeded() }
        offerRoom()
    }

    /// Asks the source for the next piece, as soon as there is room.
    func offerRoom() {
        guard phase == .streaming, let source = streamSource, let context else { return }
        guard context.channel.isWritable else {
            owesRoom = true
            return
        }
        owesRoom = false
        guard !isOfferingRoom else {
            // The source has answered at once. Others get their turn in between, and the stack stays as it is.
            return loop.eventLoop.execute { [handle, requestID] in
                if let connection = handle?.connection.value, connection.requestID == requestID {
                    connection.offerRoom()
                }
            }
        }
        isOfferingRoom = true
        source.streamHasRoom()
        isOfferingRoom = false
    }
}
