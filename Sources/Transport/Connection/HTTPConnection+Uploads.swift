// How streamed request bodies reach their handlers: from the decision to the last byte, with pauses while the handler
// is busy.

import NIOCore
import Synchronization

extension HTTPConnection {
    /// Passes a request to the handler while its body arrives.
    func startUpload(_ request: PendingRequest, number: RequestNumber, byteCountMax: Int) {
        guard let reference else { return }
        let settings = server.settings
        var declaredByteCount: Int?
        if case .length(let declared) = request.head.framing { declaredByteCount = declared }
        let stream = RequestBodyStream(
            declaredByteCount: declaredByteCount, bufferByteCount: settings.uploadBufferByteCount,
            reference: reference)
        let upload = Upload(
            stream: stream, byteCountMax: byteCountMax,
            owesContinue: request.head.expectsContinue && request.body.readableBytes == 0, settings: settings)
        let first = queue.stream(to: upload)
        if first.readableBytes > 0 { upload.receive(first) }
        limitReceiveBuffer()
        if server.isDraining.load(ordering: .sequentiallyConsistent) { upload.fail(.stopping) }
        dispatch(request, number: number, upload: upload)
    }

    /// Limits the bytes that the kernel holds for an upload that waits for its handler. Without it they grow to some
    /// tens of MiB, and NIO reads all of them at once when the client closes.
    private func limitReceiveBuffer() {
        do {
            let size = ChannelOptions.Types.SocketOption.Value(server.settings.uploadReceiveBufferByteCount)
            try context?.channel.syncOptions?.setOption(.socketOption(.so_rcvbuf), value: size)
        } catch {
            server.logger.debug("cannot set the receive buffer's size", metadata: ["error": "\(error)"])
        }
    }

    /// The handler wants bytes of its upload. A client that waits for `100 Continue` gets it now.
    func uploadIsAwaited(_ stream: RequestBodyStream) {
        guard let upload = queue.upload, upload.stream === stream else { return }
        if !upload.isWanted {
            if upload.beginReading() {
                writeContinue()
                if !isGathering { flushIfNeeded() }
            }
            countHeld()
        }
        resumeReading()
    }

    /// The handler wants no more bytes of its upload.
    func uploadIsDisplaced(_ stream: RequestBodyStream) {
        guard let upload = queue.upload, upload.stream === stream else { return }
        upload.fail(.displaced)
    }

    func writeContinue() { write(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")) }

    /// The last byte has arrived. Nothing is late any more, and from now on the time of the answer is the server's.
    func endUpload(_ upload: Upload) {
        upload.stream.end(.success(()))
        if case .waiting(var request) = phase {
            request.start = .now()
            phase = .waiting(request)
        }
        if !isInputClosed { deadline = .distantFuture }
    }

    /// The request was answered. What is missing of its body is dropped.
    func leaveUpload(_ upload: Upload) {
        upload.fail(.answered)
        queue.dropIncoming()
        enter(.dropping, timeout: server.settings.bodyTimeout)
    }

    /// Ends an upload that is too slow. The handler stores what arrived, and answers.
    func checkUpload(_ upload: Upload) {
        if upload.isTooSlow(now: .now()) {
            server.counters.timeouts.add(1, ordering: .relaxed)
            upload.fail(.tooSlow)
        }
        deadline = upload.hasFailed ? .distantFuture : loop.deadline(after: uploadCheckInterval)
    }

    var uploadCheckInterval: Duration { server.settings.uploadRateWindow / UploadMeter.slotCount }
}
