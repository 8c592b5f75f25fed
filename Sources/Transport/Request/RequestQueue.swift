// What has come of a connection's requests and is not with the handler yet: the one being received, whole ones that
// were pipelined, and the failure that ended the input. A value: no I/O, no clock.

import NIOCore

/// A request that is being received, or waits for its turn.
final class PendingRequest {
    let head: RequestHead
    /// Who asks; see `CrossOriginPolicy`.
    let originNumber: Int
    var body = ByteBuffer()
    /// The most that its body may have.
    var bodyByteCountMax: Int
    /// It has been answered already: what still comes of its body is dropped.
    fileprivate(set) var isDropped = false

    init(head: RequestHead, originNumber: Int, bodyByteCountMax: Int) {
        self.head = head
        self.originNumber = originNumber
        self.bodyByteCountMax = bodyByteCountMax
    }

    /// Whether the declared body, or what has come of one in chunks, is within the bound.
    func fits(_ byteCountMax: Int) -> Bool {
        if case .length(let declared) = head.framing { return declared <= byteCountMax }
        return body.readableBytes <= byteCountMax
    }

    /// Whether the rest of the body may be read and dropped, so that the connection can go on. Not where the client waits
    /// for `100 Continue`: it may leave the body out once it sees another answer, or send it all the same.
    func canBeDropped(_ settings: TransportSettings) -> Bool {
        guard case .length(let declared) = head.framing, declared <= settings.droppedBodyByteCountMax else {
            return false
        }
        return !head.expectsContinue || body.readableBytes > 0
    }
}

struct RequestQueue {
    /// Past this many times the limit at which reading pauses the client is not pipelining but flooding.
    private static let floodFactor = 32

    enum Next {
        /// Nothing of a next request has come.
        case nothing
        /// A head has come; its body has not yet.
        case partial(PendingRequest)
        case request(PendingRequest)
        case failure(TransportFailure)
    }

    /// Head received, body not complete.
    private(set) var incoming: PendingRequest?
    /// Nil while empty, which is nearly always: a buffer per connection would cost.
    private var whole: CircularBuffer<PendingRequest>?
    private var failure: TransportFailure?
    /// Of all bodies here.
    private(set) var byteCount = 0

    /// Of the body that is coming.
    var incomingByteCount: Int { incoming?.body.readableBytes ?? 0 }

    /// Nothing that follows can be trusted to be a request, so nothing more is taken.
    var isBroken: Bool { failure != nil }

    /// Reading should pause: enough has come for later.
    func isFull(_ settings: TransportSettings) -> Bool {
        (whole?.count ?? 0) >= settings.pipelinedRequestCountMax || byteCount > settings.pipelinedByteCountMax
    }

    /// More than pausing should ever have let through.
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
            // Most bodies come in one piece, and then they stay a slice of what was received.
            incoming.body = bytes
        } else {
            incoming.body.writeBuffer(&bytes)
        }
    }

    /// The incoming request is whole.
    mutating func complete() {
        guard let request = incoming else { return }
        incoming = nil
        if whole == nil { whole = CircularBuffer(initialCapacity: 4) }
        whole?.append(request)
    }

    /// The incoming request has been answered: what has come of its body goes, and what still comes is dropped.
    mutating func dropIncoming() {
        guard let incoming else { return }
        byteCount -= incoming.body.readableBytes
        incoming.body = ByteBuffer()
        incoming.isDropped = true
    }

    /// The incoming request is whole. True if it was a dropped one, of which nothing is left then.
    mutating func endDropped() -> Bool {
        guard incoming?.isDropped == true else { return false }
        incoming = nil
        return true
    }

    /// The incoming request is whole and nothing is before it: hands it out at once.
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

    /// What comes next for a connection whose last request has been answered.
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

    /// Lets go of everything.
    mutating func clear() { self = RequestQueue() }
}
