// What the bodies of requests take of memory, over all connections of a loop: counted and bounded.

import NIOCore

extension HTTPConnection {
    /// Tells the loop how many bytes this connection holds now. A short body that comes with its head is handed to the
    /// handler before it is counted, so the usual request costs one comparison.
    func countHeld() {
        let byteCount = queue.byteCount + handledByteCount
        guard byteCount != heldByteCount else { return }
        loop.hold(byteCount - heldByteCount)
        heldByteCount = byteCount
    }

    /// Lets go of everything that has come and is not answered.
    func releaseBodies() {
        queue.clear()
        handledByteCount = 0
        countHeld()
    }

    /// The node needs the memory: refuses the request whose body is coming, after the answers to those before it. Without
    /// one there are only whole requests that wait for their turn, and the connection closes.
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

    /// Refuses bodies, the largest incomplete ones first, until those of this loop fit into its part of what all may take.
    /// One comparison unless they don't; then a look at every connection for each one refused.
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
