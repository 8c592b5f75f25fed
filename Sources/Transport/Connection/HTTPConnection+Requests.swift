// How received parts become requests, and how requests reach the handler.

import NIOCore
import NIOHTTP1
import Synchronization

extension HTTPConnection {
    /// Adds a part of a request to the queue. A complete request goes to the handler at once if none is before it.
    func receive(_ part: HTTPServerRequestPart) {
        do throws(TransportFailure) {
            switch part {
            case .head(let head):
                lastOriginNumber = server.settings.crossOrigin?.number(of: head.headers.first(name: "origin")) ?? 0
                let checked = try RequestHead(head, settings: server.settings)
                queue.begin(checked, originNumber: lastOriginNumber, settings: server.settings)
            // A body may follow in the same read. Then there is no need to wait for it.
            case .body(var bytes):
                if let upload = queue.upload { upload.receive(bytes) } else { try queue.add(&bytes) }
            case .end:
                if let upload = queue.endUpload() { return endUpload(upload) }
                if queue.endDropped() { return becomeIdle() }
                if isReady, let request = queue.takeCompleted() { return dispatch(request, number: loop.nextNumber()) }
                queue.complete()
                if queue.isFlooded(server.settings) { close() }
            }
        } catch {
            fail(error)
        }
    }

    /// Whether the next request may go to the handler: no other is being answered, and the client reads its answers.
    var isReady: Bool { phase.acceptsRequest && context?.channel.isWritable ?? false }

    /// Handles what has been received, for as long as each request is answered at once.
    func advance() {
        guard !isAdvancing else { return }
        isAdvancing = true
        while isReady, advanceOnce() {}
        isAdvancing = false
        if !isReading { flushIfNeeded() }
        if isInputClosed { inputEnded() }
        resumeReading()
    }

    /// Returns true if there may be more to do.
    private func advanceOnce() -> Bool {
        switch queue.next() {
        case .nothing:
            return false
        case .partial(let request):
            if !phase.isBody { decide(request) }
            return queue.upload != nil
        case .request(let request):
            dispatch(request, number: loop.nextNumber())
            return true
        case .failure(let failure):
            refuse(failure)
            return false
        }
    }

    /// Ends the input. Requests that were complete before are still answered.
    func fail(_ failure: TransportFailure) {
        guard phase.acceptsInput else { return }
        if let upload = queue.upload { return upload.fail(.malformed) }
        queue.fail(failure)
        advance()
    }

    /// Asks the handler whether it wants the body of a request whose head has arrived.
    private func decide(_ request: PendingRequest) {
        let state = RequestState(request, number: loop.nextNumber(), id: 0)
        switch server.handler.decide(inbound(request, state.number, body: ByteBuffer())) {
        case .accept where !request.fits(server.settings.bodyByteCountMax):
            refuse(.bodyTooLarge)
        case .accept(let byteCountMax) where request.fits(byteCountMax):
            request.bodyByteCountMax = min(byteCountMax, server.settings.bodyByteCountMax)
            enter(.body, timeout: server.settings.bodyTimeout)
            if request.head.expectsContinue, request.body.readableBytes == 0 { writeContinue() }
        case .stream(let byteCountMax) where request.fits(byteCountMax):
            if hasRoom(for: request) {
                startUpload(request, number: state.number, byteCountMax: byteCountMax)
            } else {
                server.counters.bodiesRefused.add(1, ordering: .relaxed)
                refuse(.tooManyBodies)
            }
        case .accept, .stream:
            server.counters.failures.add(1, ordering: .relaxed)
            answerEarly(server.handler.problem(for: .bodyTooLarge, state.number), to: request, state)
        case .answer(let response):
            answerEarly(response, to: request, state)
        }
    }

    /// Passes a request to the handler: a complete one, or one whose body still arrives.
    func dispatch(_ request: PendingRequest, number: RequestNumber, upload: Upload? = nil) {
        guard let reference else { return }
        lastRequestID &+= 1
        var state = RequestState(request, number: number, id: lastRequestID)
        if upload != nil { state.start = nil }
        let byteCount = request.body.readableBytes
        if byteCount >= server.settings.countedBodyByteCountMin { state.countedBodyByteCount = byteCount }
        let inbound = inbound(request, state.number, body: request.body, stream: upload?.stream)
        enter(.waiting(state), timeout: upload == nil ? nil : uploadCheckInterval)
        server.counters.requests.add(1, ordering: .relaxed)
        server.handler.handle(inbound, Reply(reference: reference, id: lastRequestID))
    }

    private func inbound(
        _ request: PendingRequest, _ number: RequestNumber, body: ByteBuffer, stream: RequestBodyStream? = nil
    ) -> InboundRequest {
        let head = request.head
        return InboundRequest(
            number: number, method: head.method, target: head.target, headers: head.headers, body: body,
            bodyStream: stream, eventLoop: loop.eventLoop, pathByteCount: head.pathByteCount, peerAddress: peerAddress)
    }
}

extension RequestState {
    fileprivate init(_ request: PendingRequest, number: RequestNumber, id: UInt32) {
        self.init(
            number: number, start: .now(), id: id, originNumber: request.originNumber,
            isHead: request.head.method == .head, isHTTP10: request.head.isHTTP10,
            keepsAlive: request.head.keepsAlive)
    }
}
