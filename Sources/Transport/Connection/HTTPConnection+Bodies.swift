// Counts and limits the memory of request bodies, over all connections of a loop.

import NIOCore

extension HTTPConnection {
    /// Updates the loop's count with the bytes that this connection holds now. A short body that arrives with its head
    /// goes to the handler before it is counted, so a usual request costs one comparison.
    func countHeld() {
        let byteCount = queue.byteCount + (queue.upload?.countedByteCount ?? 0) + phase.countedBodyByteCount
        guard byteCount != heldByteCount else { return }
        loop.hold(byteCount - heldByteCount)
        heldByteCount = byteCount
    }

    /// Drops the bodies of all requests that are not answered yet. An upload keeps what its handler has not read. The
    /// phase must have changed before.
    func releaseBodies() {
        queue.upload?.fail(phase.isClosed ? .clientGone : .answered)
        queue.clear()
        countHeld()
    }

    /// Whether what has arrived of an upload fits into the loop's share. Counted so until its handler asks for bytes.
    func hasRoom(for request: PendingRequest) -> Bool {
        loop.heldByteCount - heldByteCount + request.body.readableBytes <= loop.heldShare
    }

    /// Frees memory. Refuses the request whose body is arriving, after the answers to the requests before it. If no
    /// body is arriving, only complete requests wait here, and the connection closes.
    func refuseBody() {
        server.counters.bodiesRefused.add(1, ordering: .relaxed)
        if queue.incomingByteCount > 0 { fail(.tooManyBodies) } else { close() }
        countHeld()
    }
}

extension LoopState {
    /// Adds to the body bytes that this loop's connections hold.
    func hold(_ byteCount: Int) {
        heldByteCount += byteCount
        memory.record(byteCount: heldByteCount)
        server.counters.bodyBytes.add(byteCount, ordering: .relaxed)
    }

    /// Refuses bodies, the largest incomplete ones first, until the bodies of this loop fit into its share of the
    /// total. Costs one comparison while they fit. Otherwise each refusal looks at every connection.
    func refuseLargestBodies() {
        while heldByteCount > heldShare, let largest = connections.max(by: { $0.refusalOrder < $1.refusalOrder }),
            largest.queue.byteCount > 0
        {
            largest.refuseBody()
        }
    }

    /// Each loop has the same share.
    fileprivate var heldShare: Int { server.settings.incomingTotalByteCountMax / max(1, server.settings.threadCount) }
}

extension HTTPConnection {
    /// Incomplete bodies before complete ones, then by size.
    fileprivate var refusalOrder: (Int, Int) { (queue.incomingByteCount, queue.byteCount) }
}
