// TLS of one connection, between its channel and HTTP. Confined to its event loop.

import NIOCore

/// Why a TLS connection ended before its time.
enum TLSFailure: Error, Equatable, CustomStringConvertible {
    case handshake(reason: String)
    case broken(reason: String)
    /// The client closed without a close_notify: what it sent may be cut short.
    case truncated
    /// The client makes OpenSSL answer and does not read the answers.
    case unreadAnswers

    var description: String {
        switch self {
        case .handshake(let reason): "the TLS handshake failed: \(reason)"
        case .broken(let reason): "TLS failed: \(reason)"
        case .truncated: "the client closed the connection without the close of TLS"
        case .unreadAnswers: "the client sends TLS messages and does not read the answers"
        }
    }
}

/// Decrypts what the channel receives, and encrypts what is written.
///
/// Timeouts are those of the connection: the handshake is part of the time for the first request.
final class TLSHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State {
        case handshaking
        case open
        /// Nothing is passed on in either direction.
        case closed
    }

    private struct Write {
        let bytes: ByteBuffer
        let promise: EventLoopPromise<Void>?
    }

    /// Large writes are encrypted in pieces, so that their memory is freed as the client reads.
    private static let pieceByteCountMax = 256 * 1024
    /// Answers of OpenSSL's own (alerts, key updates) that may wait for a client that does not read.
    private static let unreadAnswerByteCountMax = 4 * 1024

    private var session: TLSSession?
    private var state = State.handshaking
    /// The client has sent its close_notify, or closed without one.
    private var isInputClosed = false
    private var isOutputClosed = false
    /// Written, and not flushed yet.
    private var writes: [Write] = []
    private var isFlushHeld = false
    /// Whether this read of the channel has delivered bytes.
    private var hasDelivered = false
    private var unreadAnswerByteCount = 0

    init(_ session: TLSSession) { self.session = session }

    // MARK: Inbound

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Bytes after the close_notify mean nothing (RFC 8446, 6.1).
        guard state != .closed, !isInputClosed, let session else { return }
        session.receive(Self.unwrapInboundIn(data))
        if state == .handshaking, !continueHandshake(context, session) { return }
        decrypt(context, session)
        sendAnswers(context, session)
    }

    /// Returns whether the handshake is complete.
    private func continueHandshake(_ context: ChannelHandlerContext, _ session: TLSSession) -> Bool {
        switch session.handshake() {
        case .done:
            state = .open
            sendAnswers(context, session)
            if isFlushHeld { encrypt(context, session) }
            return state == .open
        case .incomplete:
            sendAnswers(context, session)
        case .ended:
            fail(context, .handshake(reason: "the client closed it"))
        case .failed(let reason):
            fail(context, .handshake(reason: reason))
        }
        return false
    }

    private func decrypt(_ context: ChannelHandlerContext, _ session: TLSSession) {
        // Handlers may close the connection while they receive.
        while state == .open, !isInputClosed, session.hasInput {
            let (bytes, outcome) = session.read(context.channel.allocator)
            switch outcome {
            case .done:
                hasDelivered = true
                context.fireChannelRead(Self.wrapInboundOut(bytes))
            case .incomplete:
                return
            case .ended:
                isInputClosed = true
                completeRead(context)
                context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            case .failed(let reason):
                fail(context, .broken(reason: reason))
            }
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) { completeRead(context) }

    /// A read that brought no plaintext is none for HTTP. The channel itself asks for the next one.
    private func completeRead(_ context: ChannelHandlerContext) {
        guard hasDelivered else { return }
        hasDelivered = false
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event as? ChannelEvent == .inputClosed, state != .closed else {
            return context.fireUserInboundEventTriggered(event)
        }
        // HTTP has handled a close_notify already.
        guard !isInputClosed else { return }
        isInputClosed = true
        guard state == .open else { return fail(context, .handshake(reason: "the client closed the connection")) }
        context.fireErrorCaught(TLSFailure.truncated)
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        let last = state
        state = .closed
        dropWrites(ChannelError.ioOnClosedChannel)
        switch last {
        case .handshaking:
            context.fireErrorCaught(TLSFailure.handshake(reason: "the client closed the connection"))
        case .open where !isInputClosed: context.fireErrorCaught(TLSFailure.truncated)
        case .open, .closed: break
        }
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        state = .closed
        dropWrites(ChannelError.ioOnClosedChannel)
        session = nil
    }

    // MARK: Outbound

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard state != .closed, !isOutputClosed else {
            promise?.fail(state == .closed ? ChannelError.ioOnClosedChannel : ChannelError.outputClosed)
            return
        }
        writes.append(Write(bytes: Self.unwrapOutboundIn(data), promise: promise))
    }

    func flush(context: ChannelHandlerContext) {
        guard let session, !writes.isEmpty else { return }
        switch state {
        case .handshaking: isFlushHeld = true
        case .open: encrypt(context, session)
        case .closed: break
        }
    }

    /// Encrypts and sends all writes. Their promises are kept when the kernel has accepted the last of their bytes.
    private func encrypt(_ context: ChannelHandlerContext, _ session: TLSSession) {
        isFlushHeld = false
        let flushed = joined(writes, context.channel.allocator)
        writes = []
        var promise: EventLoopPromise<Void>?
        for write in flushed { promise.setOrCascade(to: write.promise) }
        for write in flushed {
            var rest = write.bytes
            while rest.readableBytes > 0 {
                guard let piece = rest.readSlice(length: min(rest.readableBytes, Self.pieceByteCountMax)) else { break }
                if case .failed(let reason) = session.write(piece) {
                    let failure = TLSFailure.broken(reason: reason)
                    promise?.fail(failure)
                    return fail(context, failure)
                }
                guard session.outputByteCount >= Self.pieceByteCountMax else { continue }
                context.write(Self.wrapOutboundOut(session.takeOutput()), promise: nil)
            }
        }
        context.writeAndFlush(Self.wrapOutboundOut(session.takeOutput()), promise: promise)
    }

    /// Returns few small writes as one, for one record: the head and the body of most answers.
    private func joined(_ writes: [Write], _ allocator: ByteBufferAllocator) -> [Write] {
        let byteCount = writes.reduce(0) { $0 + $1.bytes.readableBytes }
        guard writes.count > 1, byteCount <= TLSSession.recordByteCountMax else { return writes }
        var bytes = allocator.buffer(capacity: byteCount)
        var promise: EventLoopPromise<Void>?
        for write in writes {
            bytes.writeImmutableBuffer(write.bytes)
            promise.setOrCascade(to: write.promise)
        }
        return [Write(bytes: bytes, promise: promise)]
    }

    /// Sends what OpenSSL has written by itself.
    private func sendAnswers(_ context: ChannelHandlerContext, _ session: TLSSession) {
        let bytes = session.takeOutput()
        guard bytes.readableBytes > 0, state != .closed, !isOutputClosed else { return }
        unreadAnswerByteCount = context.channel.isWritable ? 0 : unreadAnswerByteCount + bytes.readableBytes
        guard unreadAnswerByteCount <= Self.unreadAnswerByteCountMax else { return fail(context, .unreadAnswers) }
        context.writeAndFlush(Self.wrapOutboundOut(bytes), promise: nil)
    }

    // MARK: Ends

    /// Sends the close_notify. Does not wait for the client's, and like a close without TLS not for unwritten bytes.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch (mode, state) {
        case (.input, _):
            promise?.fail(ChannelError.operationUnsupported)
        case (.output, .open):
            if !writes.isEmpty, let session { encrypt(context, session) }
            closeOutput(context)
            context.close(mode: .output, promise: promise)
        case (.output, .handshaking), (.all, .handshaking):
            state = .closed
            dropWrites(ChannelError.ioOnClosedChannel)
            context.close(mode: .all, promise: promise)
        case (.all, .open):
            closeOutput(context)
            state = .closed
            dropWrites(ChannelError.ioOnClosedChannel)
            // Often the last answer's promise closes, in the middle of a flush. The close_notify is written after it.
            context.eventLoop.assumeIsolated().execute { context.close(mode: .all, promise: promise) }
        case (.output, .closed), (.all, .closed):
            context.close(mode: mode, promise: promise)
        }
    }

    private func closeOutput(_ context: ChannelHandlerContext) {
        guard state == .open, !isOutputClosed, let session else { return }
        isOutputClosed = true
        session.close()
        context.writeAndFlush(Self.wrapOutboundOut(session.takeOutput()), promise: nil)
    }

    /// Sends OpenSSL's alert, if there is one, and closes.
    private func fail(_ context: ChannelHandlerContext, _ failure: TLSFailure) {
        guard state != .closed else { return }
        state = .closed
        if let alert = session?.takeOutput(), alert.readableBytes > 0, !isOutputClosed {
            context.writeAndFlush(Self.wrapOutboundOut(alert), promise: nil)
        }
        dropWrites(failure)
        context.fireErrorCaught(failure)
        context.close(promise: nil)
    }

    private func dropWrites(_ error: any Error) {
        let dropped = writes
        writes = []
        for write in dropped { write.promise?.fail(error) }
    }
}
