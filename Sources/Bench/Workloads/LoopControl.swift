// Starts and stops event loops.
import Linux
import Synchronization

/// Shared by the loops of a run and the workload that runs them.
final class LoopControl: Sendable {
    private let wakers: [Waker]
    private let state = Mutex((isGoing: false, isStopped: false))

    init(loopCount: Int) throws {
        wakers = try (0..<loopCount).map { _ throws(SystemFailure) in try Waker() }
    }

    func waker(_ number: Int) -> Waker { wakers[number] }
    var isGoing: Bool { state.withLock { $0.isGoing } }
    var isStopped: Bool { state.withLock { $0.isStopped } }

    func go() {
        state.withLock { $0.isGoing = true }
        for waker in wakers { waker.wake() }
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        for waker in wakers { waker.wake() }
    }
}
