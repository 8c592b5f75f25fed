// The requests of a connection that the handler does not have yet: the one being received, complete ones that were
// pipelined, and the failure that ended the input. A value: no I/O, no clock.

import NIOCore

/// A request that is being received, or waits for its turn.
final class PendingRequest {
    let head: RequestHead
    /// The origin of the web page that asks; see `CrossOriginPolicy`.
    let originNumber: Int
    var body = ByteBuffer()
    /// The largest body that the request may have.
    var bodyByteCountMax: Int
    /// Receives the body, if the handler has the request already.
    fileprivate(set) var upload: Upload?
    /// The request is already answered. The rest of its body is dropped.
    fileprivate(set) var isDropped = false

    init(head: RequestHead, originNumber: Int, bodyByteCountMax: Int) {
        self.head = head
        self.originNumber = originNumber
        self.bodyByteCountMax = bodyByteCountMax
    }

    /// Whether the declared body, or what has arrived of a chunked body, is within the limit.
    func fits(_ byteCountMax: Int) -> Bool {
        if case .length(let declared) = head.framing { return declared <= byteCountMax }
        return body.readableBytes <= byteCountMax
    }

    /// Whether the rest of the body may be read and dropped, so that the connection stays open. Not if the client waits
    /// for `100 Continue`: after another answer it may send the body or leave it out.
    func canBeDropped(_ settings: TransportSettings) -> Bool {
        guard case .length(let declared) = head.framing, declared <= settings.droppedBodyByteCountMax else {
            return false
        }
        return !head.expectsContinue || body.readableBytes > 0
    }
}

struct RequestQueue {
    /// A client that sends this many times the limit at which reading pauses is flooding, not pipelining.
    private static let floodFactor = 32

    enum Next {
        /// Nothing of a next request has arrived.
        case nothing
        /// A head has arrived, and its body has not.
        case partial(PendingRequest)
        case request(PendingRequest)
        case failure(TransportFailure)
    }

    /// The head is complete and the body is not.
    private(set) var incoming: PendingRequest?
    /// It is nil while empty, which is nearly always: a buffer in each connection would cost memory.
    private var whole: CircularBuffer<PendingRequest>?
    private var failure: TransportFailure?
    /// The size of all bodies in the queue.
    private(set) var byteCount = 0

    /// The streamed body that is arriving.
    var upload: Upload? { incoming?.upload }

    /// The size of the body that is arriving.
    var incomingByteCount: Int { incoming?.body.readableBytes ?? 0 }

    /// Whether the input is invalid from here on, so that nothing more is read as a request.
    var isBroken: Bool { failure != nil }

    /// Whether reading should pause because enough has arrived.
    func isFull(_ settings: TransportSettings) -> Bool {
        (whole?.count ?? 0) >= settings.pipelinedRequestCountMax || byteCount > settings.pipelinedByteCountMax
    }

    /// Whether more has arrived than the pause allows.
    func isFlooded(_ settings: TransportSettings) -> Bool {
        (whole?.count ?? 0) > settings.pipelinedRequestCountMax * Self.floodFactor
    }

    var hasNothing: Bool { incoming == nil && whole == nil && failure == nil }

    mutating func begin(_ head: RequestHead, originNumber: Int, settings: TransportSettings) {
        incoming = PendingRequest(
            head: head, originNumber: originNumber, bodyByteCountMax: settings.bodyByteCountMax)
    }

    mutating func add(_ bytes: inout ByteBuffer) throws(TransportFailure) {
        guard let incoming, !incoming.isDropped else { return }
        guard incoming.body.readableBytes + bytes.readableBytes <= incoming.bodyByteCountMax else {
            throw .bodyTooLarge
        }
        byteCount += bytes.readableBytes
        if incoming.body.readableBytes == 0 {
            // Most bodies arrive in one piece and stay a slice of the received bytes.
            incoming.body = bytes
        } else {
            incoming.body.writeBuffer(&bytes)
        }
    }

    /// Marks the incoming request as complete.
    mutating func complete() {
        guard let request = incoming else { return }
        incoming = nil
        if whole == nil { whole = CircularBuffer(initialCapacity: 4) }
        whole?.append(request)
    }

    /// Drops the body of the incoming request, which is already answered: what has arrived, and what still arrives.
    mutating func dropIncoming() {
        guard let incoming else { return }
        byteCount -= incoming.body.readableBytes
        incoming.body = ByteBuffer()
        incoming.upload = nil
        incoming.isDropped = true
    }

    /// Passes the body of the incoming request to `upload` from now on. Returns what has arrived of it.
    mutating func stream(to upload: Upload) -> ByteBuffer {
        guard let incoming else { return ByteBuffer() }
        incoming.upload = upload
        byteCount -= incoming.body.readableBytes
        let first = incoming.body
        incoming.body = ByteBuffer()
        return first
    }

    /// Marks the incoming request as complete, if its body is streamed.
    mutating func endUpload() -> Upload? {
        guard let upload = incoming?.upload else { return nil }
        incoming = nil
        return upload
    }

    /// Marks the incoming request as complete. Returns true if it was a dropped one, of which nothing is left.
    mutating func endDropped() -> Bool {
        guard incoming?.isDropped == true else { return false }
        incoming = nil
        return true
    }

    /// Marks the incoming request as complete, and returns it if no request is before it.
    mutating func takeCompleted() -> PendingRequest? {
        guard whole == nil, let request = incoming else { return nil }
        incoming = nil
        byteCount -= request.body.readableBytes
        return request
    }

    mutating func fail(_ failure: TransportFailure) {
        byteCount -= incoming?.body.readableBytes ?? 0
        incoming = nil
        if self.failure == nil { self.failure = failure }
    }

    /// The next step for a connection whose last request is answered.
    mutating func next() -> Next {
        if let request = whole?.popFirst() {
            if whole?.isEmpty == true { whole = nil }
            byteCount -= request.body.readableBytes
            return .request(request)
        }
        if let failure { return .failure(failure) }
        if let incoming { return .partial(incoming) }
        return .nothing
    }

    /// Removes everything.
    mutating func clear() { self = RequestQueue() }
}
