// One epoll instance and its waker. The caller gives each descriptor a token and knows what it means.

import CLinux
import Glibc

/// Waits for many descriptors at once. One thread uses the set; any thread may use its waker.
package final class EpollSet: Sendable {
    private let descriptor: CInt
    private static let eventCountMax = 512
    /// Callers' tokens are less than this.
    private static let wakerToken = UInt64.max

    package struct Event {
        package let token: UInt64
        package let isReadable: Bool
        package let isWritable: Bool
    }

    package init(waker: Waker) throws(SystemFailure) {
        descriptor = clinux_epoll_create()
        guard descriptor >= 0 else { throw SystemFailure(code: errno) }
        // Edge-triggered, so that the eventfd need not be read.
        let events = clinux_epoll_in | clinux_epoll_edge
        guard clinux_epoll_control(descriptor, EPOLL_CTL_ADD, waker.descriptor, events, Self.wakerToken) == 0 else {
            throw SystemFailure(code: errno)
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Watches for readability, and for writability if `isWriting`. Returns false when the kernel refuses.
    package func add(_ watched: CInt, token: UInt64, isWriting: Bool = false) -> Bool {
        clinux_epoll_control(descriptor, EPOLL_CTL_ADD, watched, Self.events(isWriting), token) == 0
    }

    /// Starts or stops watching for writability. Returns false when the kernel refuses.
    package func setWriting(_ isWriting: Bool, _ watched: CInt, token: UInt64) -> Bool {
        clinux_epoll_control(descriptor, EPOLL_CTL_MOD, watched, Self.events(isWriting), token) == 0
    }

    /// Stops watching. Call it before the descriptor is closed.
    package func remove(_ watched: CInt) {
        _ = clinux_epoll_control(descriptor, EPOLL_CTL_DEL, watched, 0, 0)
    }

    /// Waits until a descriptor is ready, the waker was woken, or the time is over, and passes each event to `handle`.
    /// Returns whether the waker was woken.
    /// - Parameter milliseconds: -1 waits without a limit.
    package func wait(milliseconds: CInt, _ handle: (Event) -> Void) -> Bool {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.eventCountMax) { events in
            let count = epoll_wait(descriptor, events.baseAddress, CInt(Self.eventCountMax), milliseconds)
            guard count > 0 else { return false }
            var wasWoken = false
            for index in 0..<Int(count) {
                let flags = events[index].events
                let token = clinux_epoll_token(&events[index])
                guard token != Self.wakerToken else {
                    wasWoken = true
                    continue
                }
                // Errors and hang-ups have flags of their own; reading from the descriptor shows which it was.
                let isReadable = flags & ~clinux_epoll_out != 0
                handle(Event(token: token, isReadable: isReadable, isWritable: flags & clinux_epoll_out != 0))
            }
            return wasWoken
        }
    }

    private static func events(_ isWriting: Bool) -> UInt32 {
        isWriting ? clinux_epoll_in | clinux_epoll_out : clinux_epoll_in
    }
}
