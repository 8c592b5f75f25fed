// Counts and bounds the memory that request bodies take, over all connections of a loop.

import NIOCore

extension HTTPConnection {
    /// Updates the loop's count with the bytes that this connection holds now. A short body that comes with its head goes to
    /// the handler before it is counted, so a usual request costs one comparison.
    func countHeld() {
        let byteCount = queue.byteCount + handledByteCount
        guard byteCount != heldByteCount else { return }
        loop.hold(byteCount - heldByteCount)
        heldByteCount = byteCount
    }

    /// Drops all bodies of requests that are not answered yet.
    func releaseBodies() {
        queue.clear()
        handledByteCount = 0
        countHeld()
    }

    /// Frees memory: refuses the request whose body is coming, after the answers to those before it. If there is none, only
    /// whole requests wait for their turn here, and the connection closes.
    func refuseBody() {
        server.counters.bodiesRefused.add(1, ordering: .relaxed)
        if queue.incomingByteCount > 0 { fail(.tooManyBodies) } else { close() }
        countHeld()
    }
}

extension LoopState {
    /// Adds to the bytes of bodies that this loop's connections hold.
    func hold(_ byteCount: Int) {
        heldByteCount += byteCount
        memory.note(byteCount: heldByteCount)
        server.counters.bodyBytes.add(byteCount, ordering: .relaxed)
    }

    /// Refuses bodies, the largest incomplete ones first, until the bodies of this loop fit into its part of the total. Costs
    /// one comparison while they fit, and otherwise a look at every connection for each body refused.
    func refuseLargestBodies() {
        while heldByteCount > heldShare, let largest = connections.max(by: { $0.refusalOrder < $1.refusalOrder }),
            largest.queue.byteCount > 0
        {
            largest.refuseBody()
        }
    }

    /// Each loop has the same part.
    private var heldShare: Int { server.settings.incomingTotalByteCountMax / max(1, server.settings.threadCount) }
}

extension HTTPConnection {
    /// Incomplete bodies before those that only wait for their turn, then by size.
    fileprivate var refusalOrder: (Int, Int) { (queue.incomingByteCount, queue.byteCount) }
}
