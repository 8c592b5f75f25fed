// What has come of a connection's requests and is not with the handler yet: the one being received, whole ones that
// were pipelined, and the failure that ended the input. A value: no I/O, no clock.

import NIOCore

/// A request that is being received, or waits for its turn.
final class PendingRequest {
    let head: RequestHead
    /// Who asks; see `CrossOriginPolicy`.
    let originNumber: Int
    var body = ByteBuffer()

    init(head: RequestHead, originNumber: Int) {
        self.head = head
        self.originNumber = originNumber
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
    private var byteCount = 0

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

    mutating func begin(_ head: RequestHead, originNumber: Int) {
        incoming = PendingRequest(head: head, originNumber: originNumber)
    }

    mutating func add(_ bytes: inout ByteBuffer, settings: TransportSettings) throws(TransportFailure) {
        guard let incoming else { return }
        guard incoming.body.readableBytes + bytes.readableBytes <= settings.bodyByteCountMax else {
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

    /// The incoming request is whole and nothing is before it: hands it out at once.
    mutating func takeCompleted() -> PendingRequest? {
        guard whole == nil, let request = incoming else { return nil }
        incoming = nil
        byteCount -= request.body.readableBytes
        return request
    }

    mutating func fail(_ failure: TransportFailure) {
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
