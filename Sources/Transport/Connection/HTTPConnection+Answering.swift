// How answers leave a connection: whole ones, streamed ones, and the transport's own refusals.

import HTTPTypes
import NIOCore
import Synchronization

/// An answer's bytes for many connections: but for the request's number they are the same for all.
struct SharedAnswer {
    var bytes = ByteBuffer()
    let numberIndex: Int
    /// Whom it is for; see `CrossOriginPolicy`.
    let originNumber: Int

    /// For HTTP/1.1 connections that go on.
    init(_ response: OutboundResponse, common: ByteBuffer, crossOrigin: ByteBuffer?, originNumber: Int) {
        self.originNumber = originNumber
        bytes.reserveCapacity(response.body.readableBytes + 512)
        numberIndex = bytes.writeHead(
            response.status, response.headers, number: RequestNumber(value: 0),
            framing: .length(response.body.readableBytes), connection: .none, common: common, crossOrigin: crossOrigin)
        bytes.writeImmutableBuffer(response.body)
    }
}

extension HTTPConnection {
    /// Bodies up to this size are copied behind their head, so that one buffer is one write; larger ones are not.
    private static let copiedBodyByteCountMax = 4 * 1024

    /// Writes the answer to request `id`; nothing if that one is no longer waiting.
    func answer(_ id: UInt32, _ response: OutboundResponse) {
        guard let keepsAlive = beginAnswer(id, response) else { return }
        writeWhole(response, keepsAlive: keepsAlive)
        report(response.operation, response.status.code, hasWaited: response.hasWaited)
        endRequest(keepsAlive: keepsAlive)
    }

    private func report(_ operation: UInt8, _ status: Int, hasWaited: Bool) {
        server.handler.ended(
            EndedRequest(
                number: requestNumber, operation: operation, status: status,
                took: hasWaited ? nil : .nanoseconds((NIODeadline.now() - requestStart).nanoseconds)))
    }

    /// The same for an answer that many get: `shared` holds it once one of them has made it.
    func answer(_ id: UInt32, _ response: OutboundResponse, sharing shared: inout SharedAnswer?) {
        guard let keepsAlive = beginAnswer(id, response) else { return }
        if !keepsAlive || requestIsHTTP10 || requestIsHead || shared.map({ $0.originNumber != originNumber }) == true {
            writeWhole(response, keepsAlive: keepsAlive)
        } else {
            let answer =
                shared
                ?? SharedAnswer(
                    response, common: loop.commonLines, crossOrigin: crossOriginLines, originNumber: originNumber)
            // Taken away, so that the bytes are written over in place, and not copied, once they are sent.
            shared = nil
            shared = write(answer)
        }
        report(response.operation, response.status.code, hasWaited: response.hasWaited)
        endRequest(keepsAlive: keepsAlive)
    }

    private func write(_ answer: consuming SharedAnswer) -> SharedAnswer {
        var answer = answer
        answer.bytes.setRequestNumber(requestNumber, at: answer.numberIndex)
        write(answer.bytes)
        return answer
    }

    /// Whether the connection goes on after the answer; nil if the request is no longer waiting.
    private func beginAnswer(_ id: UInt32, _ response: OutboundResponse) -> Bool? {
        guard phase == .waiting, id == requestID else { return nil }
        goneHandler = nil
        return requestKeepsAlive && !response.closesConnection && !server.isClosing.load(ordering: .relaxed)
    }

    /// The handler has let go of request `id`.
    func answerUnanswered(_ id: UInt32) {
        guard phase == .waiting, id == requestID else { return }
        server.logger.error(
            "the request handler returned no answer; the client got 500", metadata: ["request": "\(requestNumber.text)"]
        )
        server.counters.failures.add(1, ordering: .relaxed)
        answer(id, server.handler.problem(for: .unanswered, requestNumber))
    }

    /// Answers a request whose body has not come, and drops the rest of a small body. Otherwise the connection closes, so
    /// that no byte of the body is ever read as a request.
    func answerEarly(_ response: OutboundResponse, to request: PendingRequest) {
        let keepsAlive =
            requestKeepsAlive && request.canBeDropped(server.settings) && !response.closesConnection
            && !server.isClosing.load(ordering: .relaxed)
        writeWhole(response, keepsAlive: keepsAlive)
        report(response.operation, response.status.code, hasWaited: false)
        guard keepsAlive else { return startLingering() }
        queue.dropIncoming()
        phase = .dropping
        deadline = loop.deadline(after: server.settings.bodyTimeout)
    }

    /// Tells the client what is wrong, and closes.
    func refuse(_ failure: TransportFailure) {
        server.counters.failures.add(1, ordering: .relaxed)
        // The request's method is unknown, or beside the point: a body is always sent.
        requestIsHead = false
        requestIsHTTP10 = false
        originNumber = lastOriginNumber
        requestNumber = loop.nextNumber()
        let response = server.handler.problem(for: failure, requestNumber)
        writeWhole(response, keepsAlive: false)
        // There was no whole request from which on to take the time.
        report(response.operation, response.status.code, hasWaited: true)
        startLingering()
    }

    private func writeWhole(_ response: OutboundResponse, keepsAlive: Bool) {
        let byteCount = response.body.readableBytes
        let framing: BodyFraming
        if response.status.forbidsBody {
            framing = .none
        } else if requestIsHead, byteCount == 0, let given = response.headers[.contentLength].flatMap({ Int($0) }) {
            framing = .length(max(0, given))
        } else {
            framing = .length(byteCount)
        }
        let sendsBody = byteCount > 0 && !requestIsHead && !response.status.forbidsBody
        let isCopied = sendsBody && byteCount <= Self.copiedBodyByteCountMax
        loop.scratch.clear()
        loop.scratch.writeHead(
            response.status, response.headers, number: requestNumber, framing: framing,
            connection: connectionHeader(keepsAlive), common: loop.commonLines, crossOrigin: crossOriginLines)
        if isCopied { loop.scratch.writeImmutableBuffer(response.body) }
        write(loop.scratch)
        if sendsBody && !isCopied { write(response.body) }
    }

    private var crossOriginLines: ByteBuffer? { server.settings.crossOrigin?.lines(number: originNumber) }

    private func connectionHeader(_ keepsAlive: Bool) -> ConnectionHeader {
        if !keepsAlive { return .close }
        return requestIsHTTP10 ? .keepAlive : .none
    }

    private func endRequest(keepsAlive: Bool) {
        if handledByteCount > 0 {
            handledByteCount = 0
            countHeld()
        }
        if keepsAlive { becomeIdle() } else { startLingering() }
        // A read that is going on turns to the next request itself, at its end.
        if !isGathering { advance() }
    }

    /// The last request has been answered, and the connection goes on.
    func becomeIdle() {
        phase = .idle
        idleStart = .now()
        deadline = loop.deadline(after: server.settings.idleTimeout)
    }

    // MARK: streams

    func startStream(
        _ id: UInt32, _ status: HTTPResponse.Status, _ headers: HTTPFields, contentLength: Int?, operation: UInt8
    ) {
        guard phase == .waiting, id == requestID else { return }
        phase = .streaming
        streamOperation = operation
        streamStatus = UInt16(status.code)
        let hasNoBody = requestIsHead || status.forbidsBody
        if let contentLength, !status.forbidsBody {
            streamFraming = .length(contentLength)
        } else if hasNoBody {
            streamFraming = .none
        } else {
            streamFraming = requestIsHTTP10 ? .untilClose : .chunked
        }
        if case .untilClose = streamFraming { requestKeepsAlive = false }
        if server.isClosing.load(ordering: .relaxed) { requestKeepsAlive = false }
        loop.scratch.clear()
        loop.scratch.writeHead(
            status, headers, number: requestNumber, framing: streamFraming,
            connection: connectionHeader(requestKeepsAlive), common: loop.commonLines, crossOrigin: crossOriginLines)
        write(loop.scratch)
        if !isGathering { flushIfNeeded() }
    }

    /// False once the stream is over, by its end or the client's.
    @discardableResult
    func writeStream(_ id: UInt32, _ bytes: ByteBuffer) -> Bool {
        guard phase == .streaming, id == requestID else { return false }
        guard bytes.readableBytes > 0, !requestIsHead else { return true }
        switch streamFraming {
        case .chunked:
            var chunk = ByteBuffer()
            chunk.reserveCapacity(bytes.readableBytes + 16)
            chunk.writeChunk(bytes)
            write(chunk)
        case .length(let missingCount):
            // More than was announced would be taken for the next answer.
            let slice = bytes.getSlice(at: bytes.readerIndex, length: min(missingCount, bytes.readableBytes))
            guard let slice else { return false }
            streamFraming = .length(missingCount - slice.readableBytes)
            write(slice)
        case .untilClose:
            write(bytes)
        case .none:
            break
        }
        if !isGathering { flushIfNeeded() }
        return true
    }

    /// A piece from who doesn't wait for the client: one that falls too far behind is cut.
    func pushStream(_ id: UInt32, _ bytes: ByteBuffer) {
        guard writeStream(id, bytes), let context else { return }
        if streamSource != nil { return offerRoom() }
        guard !context.channel.isWritable else { return }
        if unsentByteCount > server.settings.unsentByteCountMax { close() }
    }

    func endStream(_ id: UInt32) {
        guard phase == .streaming, id == requestID else { return }
        goneHandler = nil
        let hasSource = streamSource.take() != nil
        switch streamFraming {
        case .chunked: write(ByteBuffer(string: "0\r\n\r\n"))
        case .length(let missingCount) where missingCount > 0 && !requestIsHead: return close()
        case .length, .untilClose, .none: break
        }
        report(streamOperation, Int(streamStatus), hasWaited: hasSource)
        endRequest(keepsAlive: requestKeepsAlive && !server.isClosing.load(ordering: .relaxed))
    }

    /// A stream that fails half-way must not look whole: the connection is cut.
    func abortStream(_ id: UInt32) {
        guard phase == .streaming, id == requestID else { return }
        goneHandler = nil
        streamSource = nil
        close()
    }

    // MARK: bytes

    func write(_ bytes: ByteBuffer) {
        guard let context else { return }
        context.write(Self.wrapOutboundOut(bytes), promise: nil)
        needsFlush = true
        writtenByteCount += bytes.readableBytes
        if !mayHaveOutput {
            mayHaveOutput = true
            stalledSince = loop.now
        }
    }

    /// Bytes that the kernel hasn't taken yet.
    var unsentByteCount: Int { (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 }

    func flushIfNeeded() {
        guard needsFlush, let context else { return }
        needsFlush = false
        context.flush()
    }
}
