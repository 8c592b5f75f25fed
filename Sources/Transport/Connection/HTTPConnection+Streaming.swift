// How streamed answers leave a connection: written by a task, pushed, or asked for piece by piece from a source.

import HTTPTypes
import NIOCore

extension HTTPConnection {
    /// The request with this id and the body of its answer, while that is streamed.
    private func streaming(_ id: UInt32) -> (request: RequestState, body: BodyStream)? {
        guard case .streaming(let request, let body) = phase, request.id == id else { return nil }
        return (request, body)
    }

    /// Writes the head of a streamed answer. Does nothing if the request no longer waits.
    /// - Parameters:
    ///   - contentLength: the exact size of the body, if it is known.
    ///   - source: asked for the pieces, if no task writes them.
    @discardableResult
    func startStream(
        _ id: UInt32, _ status: HTTPResponse.Status, _ headers: HTTPFields, contentLength: Int?, operation: UInt8,
        source: (any StreamSource)? = nil
    ) -> Bool {
        guard var request = waiting(id) else { return false }
        let framing: BodyFraming
        if let contentLength, !status.forbidsBody {
            framing = .length(contentLength)
        } else if request.isHead || status.forbidsBody {
            framing = .none
        } else {
            framing = request.isHTTP10 ? .untilClose : .chunked
        }
        if case .untilClose = framing { request.keepsAlive = false }
        if server.isClosing.load(ordering: .relaxed) || queue.upload?.canBeDropped(server.settings) == false {
            request.keepsAlive = false
        }
        // From here on the source is notified of the client's end instead.
        if source != nil { request.goneHandler = nil }
        let body = BodyStream(
            framing: framing, operation: operation, status: status.code, took: source == nil ? request.took : nil,
            source: source)
        phase = .streaming(request, body)
        renderHead(status, headers, framing, to: request, keepsAlive: request.keepsAlive)
        write(loop.scratch)
        if !isGathering { flushIfNeeded() }
        return true
    }

    /// Writes a piece of the body. Returns false once the stream has ended or the client is gone.
    @discardableResult
    func writeStream(_ id: UInt32, _ bytes: ByteBuffer) -> Bool {
        guard let (request, body) = streaming(id) else { return false }
        guard bytes.readableBytes > 0, !request.isHead else { return true }
        switch body.framing {
        case .chunked:
            var chunk = ByteBuffer()
            chunk.reserveCapacity(bytes.readableBytes + 16)
            chunk.writeChunk(bytes)
            write(chunk)
        case .length(let missingCount):
            // The client would read bytes beyond the announced length as the next answer.
            let slice = bytes.getSlice(at: bytes.readerIndex, length: min(missingCount, bytes.readableBytes))
            guard let slice else { return false }
            body.framing = .length(missingCount - slice.readableBytes)
            write(slice)
        case .untilClose:
            write(bytes)
        case .none:
            break
        }
        if !isGathering { flushIfNeeded() }
        return true
    }

    /// As `writeStream`, and resumes `continuation` when more may be written. It throws once the client is gone.
    func writeStream(_ id: UInt32, _ bytes: ByteBuffer, _ continuation: CheckedContinuation<Void, any Error>) {
        guard writeStream(id, bytes), let body = streaming(id)?.body, let context else {
            return continuation.resume(throwing: ChannelError.ioOnClosedChannel)
        }
        if context.channel.isWritable {
            continuation.resume()
        } else {
            body.writableWaiter.take()?.resume(throwing: ChannelError.ioOnClosedChannel)
            body.writableWaiter = continuation
        }
    }

    /// Writes a piece for a caller that does not wait for the client. A client that falls too far behind is cut off.
    func pushStream(_ id: UInt32, _ bytes: ByteBuffer) {
        guard writeStream(id, bytes), let body = streaming(id)?.body, let context else { return }
        if body.source != nil { return offerRoom(id) }
        guard !context.channel.isWritable else { return }
        if unsentByteCount > server.settings.unsentByteCountMax { close() }
    }

    /// Ends the body. A body shorter than its announced length cuts the connection.
    func endStream(_ id: UInt32) {
        guard let (request, body) = streaming(id) else { return }
        switch body.framing {
        case .chunked: write(ByteBuffer(string: "0\r\n\r\n"))
        case .length(let missingCount) where missingCount > 0 && !request.isHead: return abortStream(id)
        case .length, .untilClose, .none: break
        }
        report(request, body.operation, body.status, took: body.took)
        body.writableWaiter.take()?.resume()
        endRequest(request, keepsAlive: request.keepsAlive && !server.isClosing.load(ordering: .relaxed))
    }

    /// Cuts the connection, so that the client does not take a failed stream for a complete one.
    func abortStream(_ id: UInt32) {
        guard let (current, body) = streaming(id) else { return }
        var request = current
        // Neither is notified of an end that the writer chose.
        request.goneHandler = nil
        body.source = nil
        phase = .streaming(request, body)
        close()
    }

    // MARK: Streams from a source

    /// Starts an answer whose body comes from `source`. `first` is its first piece.
    func startStream(
        _ id: UInt32, _ status: HTTPResponse.Status, _ headers: HTTPFields, operation: UInt8, first: ByteBuffer,
        source: any StreamSource
    ) {
        guard startStream(id, status, headers, contentLength: nil, operation: operation, source: source),
            let request = streaming(id)?.request
        else { return }
        if request.isHead {
            // HEAD wants no body, so the stream ends at once.
            endStream(id)
            return source.clientIsGone()
        }
        sendPiece(id, StreamPiece(first))
    }

    func sendPiece(_ id: UInt32, _ piece: StreamPiece) {
        guard let (_, body) = streaming(id) else { return }
        if case .chunked = body.framing { write(piece.chunk) } else { write(piece.bytes) }
        if !isGathering { flushIfNeeded() }
        offerRoom(id)
    }

    /// Asks the source for the next piece, now or when the channel can be written to again.
    private func offerRoom(_ id: UInt32) {
        guard let (_, body) = streaming(id), let source = body.source, let context else { return }
        guard context.channel.isWritable else {
            body.awaitsRoom = true
            return
        }
        body.awaitsRoom = false
        guard !body.isOfferingRoom else {
            // The source has sent a piece at once. Other connections go first, and the stack does not grow.
            return loop.eventLoop.execute { [reference] in reference?.connection.value.offerRoom(id) }
        }
        body.isOfferingRoom = true
        source.streamHasRoom()
        body.isOfferingRoom = false
    }

    /// Lets the writer of the stream continue, once the channel can be written to again.
    func continueStream() {
        guard case .streaming(let request, let body) = phase else { return }
        body.writableWaiter.take()?.resume()
        if body.awaitsRoom { offerRoom(request.id) }
    }
}
