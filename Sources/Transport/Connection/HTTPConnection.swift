// One connection: decoded parts in, requests to the handler one after the other. Confined to its event loop.
// Answering is in HTTPConnection+Answering.swift, time-outs and endings in HTTPConnection+Ending.swift.

import Basics
import HTTPTypes
import NIOCore
import NIOHTTP1
import Synchronization

/// The only channel handler behind NIO's request decoder: request assembly, queue and writer in one, to keep a waiting
/// poll small.
///
/// ```
/// head --> body --> waiting --> (streaming) --> idle --> head ...
///   |        |         |              |
///   +--------+---------+--------------+--> lingering --> closed
///   +--> dropping --> idle
/// ```
final class HTTPConnection: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Phase {
        /// Kept alive, nothing of a next request has come. Ends by `idleTimeout`.
        case idle
        /// A head is on its way; also a new connection before its first byte. Ends by `headerTimeout`.
        case head
        /// Ends by `bodyTimeout`.
        case body
        /// The handler has the request; nothing here limits how long.
        case waiting
        /// The head of a streamed answer is out.
        case streaming
        /// The answer is out before the body came, and the body's rest is dropped. Ends by `bodyTimeout`.
        case dropping
        /// The last answer is on its way: what comes is discarded until the client closes or `lingerTimeout`.
        case lingering
        case closed
    }

    let loop: LoopState
    var context: ChannelHandlerContext?
    var handle: ConnectionReference?
    /// This connection's place in the loop's list.
    var slot: Int?
    var phase = Phase.head
    var deadline = NIODeadline.distantFuture { didSet { noteLookTime() } }
    /// Above the connection limit: not counted, never served.
    var isRefused = false
    /// The client has closed its sending side.
    var isInputClosed = false
    var isOutputClosed = false
    var needsFlush = false
    /// Whether bytes may still wait to be taken by the client, how many it has taken, and since when no more.
    var mayHaveOutput = false { didSet { noteLookTime() } }
    var writtenByteCount = 0
    var takenByteCount = 0
    var stalledSince = NIODeadline.now()
    /// Since when it has been idle, once it is.
    var idleStart = NIODeadline.now()
    /// Whether the connection waits for a place among the open ones; nothing is read meanwhile.
    var isAwaitingAdmission = false

    // The request that is being answered.
    var requestID: UInt32 = 0
    var requestNumber: RequestNumber
    /// When it was whole; the coarse clock of time-outs says too little here.
    var requestStart = NIODeadline.now()
    /// Of a streamed answer, until it has ended.
    var streamOperation: UInt8 = 0
    var streamStatus: UInt16 = 0
    var requestIsHead = false
    var requestIsHTTP10 = false
    var requestKeepsAlive = false
    /// Who asks; see `CrossOriginPolicy`.
    var originNumber = 0
    /// The same of the last head that came, for its refusal.
    var lastOriginNumber = 0
    var goneHandler: (@Sendable () -> Void)?
    var isGoneAtHalfClose = false
    var streamFraming = BodyFraming.none
    var writableWaiter: CheckedContinuation<Void, any Error>?
    /// Of a stream that no task writes, until it has ended.
    var streamSource: (any StreamSource)?
    /// The source is to be asked once the channel can be written to again.
    var owesRoom = false
    var isOfferingRoom = false

    var queue = RequestQueue()
    /// Bytes of bodies that the loop counts for this connection: the queue's, and those of a large one under way.
    var heldByteCount = 0
    /// Of the request that is being answered, if it is large.
    var handledByteCount = 0
    /// Between a read's first part and its end, when what was written is flushed at once.
    var isReading = false
    /// Whether this read gave a part of a request; without one it brought a piece of a head.
    private var readGavePart = false
    private var hasReceived = false
    private var isAdvancing = false
    private var isReadHeld = false
    private(set) var peerAddress: IPAddress?

    init(loop: LoopState) {
        self.loop = loop
        requestNumber = loop.nextNumber()
    }

    var server: ServerState { loop.server }

    /// Nothing of a request has come, so closing loses nothing.
    var isUnused: Bool { phase == .idle && queue.hasNothing || phase == .head && !hasReceived }

    // MARK: channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        handle = ConnectionReference(self, eventLoop: context.eventLoop)
        if context.channel.isActive { open(context) }
    }

    func channelActive(context: ChannelHandlerContext) { open(context) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase != .lingering, phase != .closed, !queue.isBroken else { return }
        isReading = true
        readGavePart = true
        do throws(TransportFailure) {
            switch Self.unwrapInboundIn(data) {
            case .head(let head):
                lastOriginNumber = server.settings.crossOrigin?.number(of: head.headers.first(name: "origin")) ?? 0
                let checked = try RequestHead(head, settings: server.settings)
                queue.begin(checked, originNumber: lastOriginNumber, settings: server.settings)
            // A body may follow in the same read; then there is no need to wait for it.
            case .body(var bytes):
                try queue.add(&bytes)
            case .end:
                if queue.endDropped() { return becomeIdle() }
                if isReady, let request = queue.takeCompleted() { return dispatch(request) }
                queue.complete()
                if queue.isFlooded(server.settings) { close() }
            }
        } catch {
            fail(error)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        hasReceived = true
        if !readGavePart, phase == .idle { enter(.head, after: server.settings.headerTimeout) }
        readGavePart = false
        endReading()
    }

    private func endReading() {
        isReading = false
        advance()
        flushIfNeeded()
        countHeld()
        loop.refuseLargestBodies()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard context.channel.isWritable else { return }
        writableWaiter.take()?.resume()
        if owesRoom { offerRoom() }
        advance()
    }

    /// Reading pauses while enough is pipelined behind a request. The end of the input is noticed anyway.
    func read(context: ChannelHandlerContext) {
        if isAwaitingAdmission || phase != .lingering && !isReady && queue.isFull(server.settings) {
            isReadHeld = true
        } else {
            context.read()
        }
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
            // The end of the input in the middle of a request, or bytes after the last request: no one to tell.
            if error == .invalidEOFState || error == .closedConnection { return }
            fail(TransportFailure(error))
        case is ByteToMessageDecoderError:
            break  // more bytes after what was refused
        default:
            server.logger.debug("connection failed", metadata: ["error": "\(error)"])
            close()
        }
    }

    func channelInactive(context: ChannelHandlerContext) { finish() }

    func handlerRemoved(context: ChannelHandlerContext) {
        finish()
        self.context = nil
    }

    // MARK: requests

    /// Not while a request is being answered, nor while the client leaves its answers lying.
    private var isReady: Bool {
        switch phase {
        case .idle, .head, .body: context?.channel.isWritable ?? false
        case .waiting, .streaming, .dropping, .lingering, .closed: false
        }
    }

    /// Turns to what has been received meanwhile, for as long as each request is answered at once.
    func advance() {
        guard !isAdvancing else { return }
        isAdvancing = true
        while isReady, advanceOnce() {}
        isAdvancing = false
        if !isReading { flushIfNeeded() }
        if isInputClosed { inputEnded() }
        if isReadHeld, phase == .lingering || isReady || !queue.isFull(server.settings) { resumeReading() }
    }

    /// Takes up reading where it was held.
    func resumeReading() {
        guard isReadHeld, !isAwaitingAdmission else { return }
        isReadHeld = false
        context?.read()
    }

    /// Whether writes are gathered now and flushed by someone further out.
    var isGathering: Bool { isAdvancing || isReading }

    /// True if there may be more to do.
    private func advanceOnce() -> Bool {
        switch queue.next() {
        case .nothing:
            return false
        case .partial(let request):
            if phase != .body { decide(request) }
            return false
        case .request(let request):
            dispatch(request)
            return true
        case .failure(let failure):
            refuse(failure)
            return false
        }
    }

    /// The input is over; what came whole before is still answered.
    func fail(_ failure: TransportFailure) {
        guard phase != .lingering, phase != .closed else { return }
        queue.fail(failure)
        advance()
    }

    /// Changes the phase; its time runs from the first time it is entered.
    private func enter(_ next: Phase, after timeout: Duration) {
        guard phase != next else { return }
        phase = next
        deadline = loop.deadline(after: timeout)
    }

    /// The head has come and its body has not: the handler says whether the body is wanted.
    private func decide(_ request: PendingRequest) {
        switch server.handler.decide(begin(request, body: ByteBuffer())) {
        case .accept(let byteCountMax) where request.fits(byteCountMax):
            request.bodyByteCountMax = byteCountMax
            enter(.body, after: server.settings.bodyTimeout)
            if request.head.expectsContinue, request.body.readableBytes == 0 {
                write(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"))
            }
        case .accept:
            server.counters.failures.add(1, ordering: .relaxed)
            answerEarly(server.handler.problem(for: .bodyTooLarge, requestNumber), to: request)
        case .answer(let response):
            answerEarly(response, to: request)
        }
    }

    private func dispatch(_ request: PendingRequest) {
        guard let handle else { return }
        let inbound = begin(request, body: request.body)
        phase = .waiting
        deadline = .distantFuture
        requestID &+= 1
        let byteCount = request.body.readableBytes
        if byteCount >= server.settings.countedBodyByteCountMin { handledByteCount = byteCount }
        server.counters.requests.add(1, ordering: .relaxed)
        server.handler.handle(inbound, Reply(handle: handle, id: requestID))
    }

    /// Makes `request` the one that is answered next, and gives it as the handler sees it.
    private func begin(_ request: PendingRequest, body: ByteBuffer) -> InboundRequest {
        let head = request.head
        requestNumber = loop.nextNumber()
        requestStart = .now()
        requestIsHead = head.method == .head
        requestIsHTTP10 = head.isHTTP10
        requestKeepsAlive = head.keepsAlive
        originNumber = request.originNumber
        return InboundRequest(
            number: requestNumber, method: head.method, target: head.target, headers: head.headers, body: body,
            eventLoop: loop.eventLoop, pathByteCount: head.pathByteCount, peerAddress: peerAddress)
    }

    private func open(_ context: ChannelHandlerContext) {
        guard slot == nil, phase != .closed else { return }
        peerAddress = context.remoteAddress.flatMap { IPAddress($0) }
        loop.add(self)
        deadline = loop.deadline(after: server.settings.headerTimeout)
        admit()
    }
}
