// Waiting for one descriptor, with a deadline. For many descriptors see EpollSet.

import Glibc

package enum WaitOutcome { case ready, stopped, timedOut }

/// Blocks until the descriptor is ready, `stop` is woken, or the deadline has passed.
/// - Parameter events: `POLLIN`, `POLLOUT` or both.
package func wait(for descriptor: CInt, _ events: CInt, stop: Waker?, until deadline: ContinuousClock.Instant?)
    -> WaitOutcome
{
    var descriptors = [
        pollfd(fd: descriptor, events: Int16(events), revents: 0),
        pollfd(fd: stop?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    while true {
        let count = poll(&descriptors, nfds_t(descriptors.count), milliseconds(until: deadline))
        if count > 0 {
            return descriptors[1].revents != 0 ? .stopped : .ready
        }
        // A signal may interrupt the wait before the deadline.
        if let deadline, deadline <= .now { return .timedOut }
    }
}

/// The argument of `poll` and `epoll_wait`: rounded up, so that the deadline has passed on return; -1 for no deadline.
package func milliseconds(until deadline: ContinuousClock.Instant?) -> CInt {
    guard let deadline else { return -1 }
    let (seconds, attoseconds) = (deadline - .now).components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    guard seconds < 1_000_000 else { return 1_000_000_000 }
    return CInt(seconds) * 1000 + CInt((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
}
