// An eventfd that wakes a waiting thread.

import CLinux
import Glibc
import Synchronization

/// Wakes a thread that waits in an `EpollSet` or in `wait(for:_:stop:until:)`, from any thread. Harmless after that
/// thread has ended.
package final class Waker: Sendable {
    package let descriptor: CInt
    private let interrupted = Atomic(false)

    package init() throws(SystemFailure) {
        descriptor = clinux_eventfd_create()
        guard descriptor >= 0 else { throw SystemFailure(code: errno) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Makes the descriptor readable. It is never read, so it stays readable; an `EpollSet` watches its edges.
    package func wake() { eventfd_write(descriptor, 1) }

    /// Wakes the thread and asks it to stop. This cannot be undone.
    package func interrupt() {
        interrupted.store(true, ordering: .releasing)
        wake()
    }

    /// True from the first `interrupt` on.
    package var isInterrupted: Bool { interrupted.load(ordering: .acquiring) }
}
