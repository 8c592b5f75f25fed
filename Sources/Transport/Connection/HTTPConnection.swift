// One connection: its parts and the events of its channel. Confined to its event loop.
// Requests are in HTTPConnection+Requests.swift, answers in +Answering and +Streaming, the ends in +Ending.

import Basics
import NIOCore
import NIOHTTP1
import Synchronization

/// Receives decoded requests, passes them to the handler one after the other, and writes the answers.
///
/// It is the only channel handler behind NIO's request decoder. Request assembly, queue and writer are one object, so
/// that a waiting poll stays small.
final class HTTPConnection: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let loop: LoopState
    var context: ChannelHandlerContext?
    var reference: ConnectionReference?
    /// The index of this connection in the loop's list.
    var slot: Int?
    var phase: ConnectionPhase
    /// The time at which the phase times out.
    var deadline = NIODeadline.distantFuture { didSet { updateLookTime() } }
    var output: OutputMeter
    var queue = RequestQueue()
    /// Bytes of bodies that the loop counts for this connection: those in the queue, and a large one being answered.
    var heldByteCount = 0
    var lastRequestID: UInt32 = 0
    /// The origin of the last head received, for the answer if that head is refused.
    var lastOriginNumber = 0
    private(set) var peerAddress: IPAddress?

    /// The connection is above the limit: it is not counted as open and never served.
    var isRefused = false
    /// The connection waits for a place among the open ones. Nothing is read meanwhile.
    var isAwaitingAdmission = false
    /// The client has closed its sending side.
    var isInputClosed = false
    var isOutputClosed = false
    var needsFlush = false
    /// True from a read's first part to its end, when all that was written is flushed at once.
    var isReading = false
    var isAdvancing = false
    /// Whether this read delivered a part of a request. Without one it brought a piece of a head.
    private var readGavePart = false
    /// A read was requested while reading pauses.
    private var isReadHeld = false

    init(loop: LoopState) {
        self.loop = loop
        let now = NIODeadline.now()
        phase = .new(since: now)
        output = OutputMeter(now: now)
    }

    var server: ServerState { loop.server }

    /// Whether writes are collected now and flushed by a caller further out.
    var isGathering: Bool { isAdvancing || isReading }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        reference = ConnectionReference(self, eventLoop: context.eventLoop)
        if context.channel.isActive { open(context) }
    }

    func channelActive(context: ChannelHandlerContext) { open(context) }

    private func open(_ context: ChannelHandlerContext) {
        guard slot == nil, !phase.isClosed else { return }
        peerAddress = context.remoteAddress.flatMap { IPAddress($0) }
        loop.add(self)
        deadline = loop.deadline(after: server.settings.headerTimeout)
        admit()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase.acceptsInput, !queue.isBroken else { return }
        isReading = true
        readGavePart = true
        receive(Self.unwrapInboundIn(data))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        switch phase {
        // The time for the head runs from the opening.
        case .new: phase = .head
        case .idle where !readGavePart: enter(.head, timeout: server.settings.headerTimeout)
        default: break
        }
        readGavePart = false
        endReading()
    }

    private func endReading() {
        isReading = false
        advance()
        queue.upload?.stream.deliver()
        flushIfNeeded()
        countHeld()
        loop.refuseLargestBodies()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard context.channel.isWritable else { return }
        continueStream()
        advance()
    }

    /// Reading pauses while enough is pipelined behind a request, or waits for the handler of an upload. The end of the
    /// input is still noticed.
    func read(context: ChannelHandlerContext) {
        if mayRead { return context.read() }
        isReadHeld = true
        queue.upload?.readingPauses()
    }

    private var mayRead: Bool {
        !isAwaitingAdmission && (phase.isLingering || isReady || !queue.isFull(server.settings))
            && queue.upload?.wantsBytes ?? true
    }

    /// Does the read that was requested during a pause, if the pause is over.
    func resumeReading() {
        guard isReadHeld, mayRead else { return }
        isReadHeld = false
        queue.upload?.readingResumes()
        context?.read()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event as? ChannelEvent {
        case .inputClosed:
            isInputClosed = true
            endReading()
            inputEnded()
        case .outputClosed:
            isOutputClosed = true
            outputEnded()
        case nil:
            break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case let error as HTTPParserError:
            // The input ended within a request, or bytes followed the last request. Nobody is left to be answered.
            if error == .invalidEOFState || error == .closedConnection { return }
            fail(TransportFailure(error))
        case is ByteToMessageDecoderError:
            break  // More bytes after a refused request.
        default:
            server.logger.debug("connection failed; closing it", metadata: ["error": "\(error)"])
            // What arrived with a streamed request before the break reaches its handler.
            endReading()
            close()
        }
    }

    func channelInactive(context: ChannelHandlerContext) { finish() }

    func handlerRemoved(context: ChannelHandlerContext) {
        finish()
        self.context = nil
    }

    // MARK: Phases and bytes

    /// Changes the phase and its deadline.
    /// - Parameter timeout: nil for a phase without a limit.
    func enter(_ next: ConnectionPhase, timeout: Duration?) {
        phase = next
        deadline = timeout.map { loop.deadline(after: $0) } ?? .distantFuture
    }

    func write(_ bytes: ByteBuffer) {
        guard let context else { return }
        context.write(Self.wrapOutboundOut(bytes), promise: nil)
        needsFlush = true
        if output.write(bytes.readableBytes, now: loop.now) { updateLookTime() }
    }

    func flushIfNeeded() {
        guard needsFlush, let context else { return }
        needsFlush = false
        context.flush()
    }

    /// Bytes that the kernel has not taken yet.
    var unsentByteCount: Int { (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 }
}
