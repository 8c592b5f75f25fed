// How whole answers leave a connection: those of the handler, and the transport's refusals.

import HTTPTypes
import NIOCore
import Synchronization

extension HTTPConnection {
    /// Bodies up to this size are copied behind their head, so that the answer is one write.
    private static let copiedBodyByteCountMax = 4 * 1024

    /// The request with this id, if it waits for its answer.
    func waiting(_ id: UInt32) -> RequestState? {
        guard case .waiting(let request) = phase, request.id == id else { return nil }
        return request
    }

    /// Writes the answer to a request. Does nothing if the request no longer waits.
    func answer(_ id: UInt32, _ response: OutboundResponse) {
        guard let request = waiting(id) else { return }
        let keepsAlive = staysOpen(after: response, to: request)
        writeWhole(response, to: request, keepsAlive: keepsAlive)
        finishAnswer(response, to: request, keepsAlive: keepsAlive)
    }

    /// As `answer`, for an answer that many connections get. The first of them stores its bytes in `shared`.
    func answer(_ id: UInt32, _ response: OutboundResponse, sharing shared: inout SharedAnswer?) {
        guard let request = waiting(id) else { return }
        let keepsAlive = staysOpen(after: response, to: request)
        if keepsAlive, !request.isHTTP10, !request.isHead,
            shared?.originNumber ?? request.originNumber == request.originNumber
        {
            let answer =
                shared
                ?? SharedAnswer(
                    response, common: loop.commonLines, crossOrigin: crossOriginLines(request.originNumber),
                    originNumber: request.originNumber)
            // The only reference moves out, so that the next request's number overwrites the bytes without a copy.
            shared = nil
            shared = write(answer, to: request)
        } else {
            writeWhole(response, to: request, keepsAlive: keepsAlive)
        }
        finishAnswer(response, to: request, keepsAlive: keepsAlive)
    }

    private func write(_ answer: consuming SharedAnswer, to request: RequestState) -> SharedAnswer {
        var answer = answer
        answer.bytes.setRequestNumber(request.number, at: answer.numberIndex)
        write(answer.bytes)
        return answer
    }

    /// Writes an interim answer to a request that waits. HTTP/1.0 has none.
    func inform(_ id: UInt32, _ status: HTTPResponse.Status, _ headers: HTTPFields) {
        guard let request = waiting(id), !request.isHTTP10 else { return }
        loop.scratch.clear()
        loop.scratch.writeInterimHead(status, headers)
        write(loop.scratch)
        if !isGathering { flushIfNeeded() }
    }

    /// Answers a request that the handler released without an answer.
    func answerUnanswered(_ id: UInt32) {
        guard let request = waiting(id) else { return }
        server.logger.error(
            "the request handler returned no answer; the client got 500",
            metadata: ["request": "\(request.number.text)"])
        server.counters.failures.add(1, ordering: .relaxed)
        answer(id, server.handler.problem(for: .unanswered, request.number))
    }

    /// Answers a request whose body has not arrived, and drops the rest of a small body. After a large one the
    /// connection closes, so that no byte of the body is ever read as a request.
    func answerEarly(_ response: OutboundResponse, to request: PendingRequest, _ state: RequestState) {
        let keepsAlive = staysOpen(after: response, to: state) && request.canBeDropped(server.settings)
        writeWhole(response, to: state, keepsAlive: keepsAlive)
        report(state, response.operation, response.status.code, took: state.took)
        guard keepsAlive else { return startLingering() }
        queue.dropIncoming()
        enter(.dropping, timeout: server.settings.bodyTimeout)
    }

    /// Answers input that is not an acceptable request, and closes.
    func refuse(_ failure: TransportFailure) {
        server.counters.failures.add(1, ordering: .relaxed)
        // The method is unknown or does not matter: a body is always sent.
        let request = RequestState(
            number: loop.nextNumber(), start: .now(), id: 0, originNumber: lastOriginNumber, isHead: false,
            isHTTP10: false, keepsAlive: false)
        let response = server.handler.problem(for: failure, request.number)
        writeWhole(response, to: request, keepsAlive: false)
        // No complete request arrived, so there is no time to measure.
        report(request, response.operation, response.status.code, took: nil)
        startLingering()
    }

    private func staysOpen(after response: OutboundResponse, to request: RequestState) -> Bool {
        request.keepsAlive && !response.closesConnection && !server.isClosing.load(ordering: .relaxed)
            && queue.upload?.canBeDropped(server.settings) ?? true
    }

    private func writeWhole(_ response: OutboundResponse, to request: RequestState, keepsAlive: Bool) {
        let byteCount = response.body.readableBytes
        let framing: BodyFraming
        if response.status.forbidsBody {
            framing = .none
        } else if request.isHead, byteCount == 0, let given = response.headers[.contentLength].flatMap({ Int($0) }) {
            framing = .length(max(0, given))
        } else {
            framing = .length(byteCount)
        }
        let sendsBody = byteCount > 0 && !request.isHead && !response.status.forbidsBody
        let isCopied = sendsBody && byteCount <= Self.copiedBodyByteCountMax
        renderHead(response.status, response.headers, framing, to: request, keepsAlive: keepsAlive)
        if isCopied { loop.scratch.writeImmutableBuffer(response.body) }
        write(loop.scratch)
        if sendsBody && !isCopied { write(response.body) }
    }

    /// Puts the head of an answer into the loop's scratch buffer.
    func renderHead(
        _ status: HTTPResponse.Status, _ headers: HTTPFields, _ framing: BodyFraming, to request: RequestState,
        keepsAlive: Bool
    ) {
        loop.scratch.clear()
        loop.scratch.writeHead(
            status, headers, number: request.number, framing: framing,
            connection: !keepsAlive ? .close : request.isHTTP10 ? .keepAlive : .none, common: loop.commonLines,
            crossOrigin: crossOriginLines(request.originNumber))
    }

    private func crossOriginLines(_ number: Int) -> ByteBuffer? { server.settings.crossOrigin?.lines(number: number) }

    private func finishAnswer(_ response: OutboundResponse, to request: RequestState, keepsAlive: Bool) {
        report(
            request, response.operation, response.status.code, took: response.hasWaited ? nil : request.took)
        endRequest(request, keepsAlive: keepsAlive)
    }

    func report(_ request: RequestState, _ operation: UInt8, _ status: Int, took: Duration?) {
        server.handler.ended(
            EndedRequest(number: request.number, operation: operation, status: status, took: took))
    }

    /// The answer to a request is complete: the connection becomes idle or closes.
    func endRequest(_ request: RequestState, keepsAlive: Bool) {
        if !keepsAlive {
            startLingering()
        } else if let upload = queue.upload {
            leaveUpload(upload)
        } else {
            becomeIdle()
        }
        if request.countedBodyByteCount > 0 { countHeld() }
        // During a read, the end of the read takes the next request.
        if !isGathering { advance() }
    }

    func becomeIdle() { enter(.idle(since: .now()), timeout: server.settings.idleTimeout) }
}
