// The body of a streamed request while it arrives: its limit, its rate and its end. The handler reads it from
// `RequestBodyStream`.

import NIOCore

/// The connection's side of a streamed body. Exists from the handler's decision to the body's last byte, or to the
/// answer. Confined to its event loop.
final class Upload {
    let stream: RequestBodyStream
    private let byteCountMax: Int
    private var byteCount = 0
    private var meter: UploadMeter
    /// The client waits for `100 Continue`.
    private(set) var owesContinue: Bool
    /// The handler has asked for bytes. Nothing is read before: the request may not even have a valid token.
    private(set) var isWanted = false
    /// The body has ended early: later bytes are dropped.
    private(set) var hasFailed = false

    init(stream: RequestBodyStream, byteCountMax: Int, owesContinue: Bool, settings: TransportSettings) {
        self.stream = stream
        self.byteCountMax = byteCountMax
        self.owesContinue = owesContinue
        meter = UploadMeter(
            byteCountMin: settings.uploadByteCountMin, window: TimeAmount(settings.uploadRateWindow))
        stream.wakeWhenAwaited()
    }

    func receive(_ bytes: ByteBuffer) {
        guard !hasFailed else { return }
        owesContinue = false
        let room = byteCountMax - byteCount
        byteCount += bytes.readableBytes
        meter.receive(bytes.readableBytes)
        if bytes.readableBytes <= room { return stream.append(bytes) }
        if let allowed = bytes.getSlice(at: bytes.readerIndex, length: room), room > 0 { stream.append(allowed) }
        fail(.tooLarge)
    }

    /// Ends the body early. Does nothing if it has already failed.
    func fail(_ error: RequestBodyError) {
        hasFailed = true
        stream.end(.failure(error))
    }

    // MARK: Reading

    /// Whether more may be read. If not, the consumer's next call wakes the connection.
    var wantsBytes: Bool { isWanted && !hasFailed && stream.hasRoom() }

    /// Bytes that count as those of ordinary bodies: all until the handler asks for them.
    var countedByteCount: Int { isWanted ? 0 : byteCount }

    /// The handler has asked for bytes: the client's time begins. Returns whether to send `100 Continue`.
    func beginReading() -> Bool {
        isWanted = true
        meter.startWaiting(.now())
        defer { owesContinue = false }
        return owesContinue && !hasFailed
    }

    func readingPauses() { meter.stopWaiting(.now()) }

    func readingResumes() { meter.startWaiting(.now()) }

    /// Whether the client has been too slow. Called about ten times a window.
    func isTooSlow(now: NIODeadline) -> Bool { !hasFailed && meter.isTooSlow(now: now) }

    /// Whether the rest may be read and dropped, so that the connection stays open; see `PendingRequest.canBeDropped`.
    func canBeDropped(_ settings: TransportSettings) -> Bool {
        guard !hasFailed, !owesContinue, let declared = stream.declaredByteCount else { return false }
        return declared - byteCount <= settings.droppedBodyByteCountMax
    }
}
