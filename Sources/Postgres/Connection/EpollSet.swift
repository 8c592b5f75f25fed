// One epoll instance and its waker. Which descriptors mean what is the user's business: it sees only tokens.

import CLibpq
import Glibc

/// Waits for many descriptors at once. Used by one thread; its waker by any.
final class EpollSet: Sendable {
    private let descriptor: CInt
    private static let eventCountMax = 64
    private static let wakerToken = UInt64.max

    struct Event {
        let token: UInt64
        let isReadable: Bool
        let isWritable: Bool
    }

    init(waker: Waker) throws(PostgresError) {
        descriptor = parley_epoll_create()
        guard descriptor >= 0 else { throw .unavailable("no epoll (error \(errno))") }
        // Edges only: then nobody needs to read the eventfd.
        let flags = parley_epoll_in | parley_epoll_edge
        guard parley_epoll_control(descriptor, EPOLL_CTL_ADD, waker.descriptor, flags, Self.wakerToken) == 0 else {
            throw .unavailable("no epoll (error \(errno))")
        }
    }

    deinit { close(descriptor) }

    /// Watches for readability. False when the kernel refuses.
    func add(_ watched: CInt, token: UInt64) -> Bool {
        parley_epoll_control(descriptor, EPOLL_CTL_ADD, watched, parley_epoll_in, token) == 0
    }

    func setWritable(_ isWanted: Bool, _ watched: CInt, token: UInt64) -> Bool {
        let flags = isWanted ? parley_epoll_in | parley_epoll_out : parley_epoll_in
        return parley_epoll_control(descriptor, EPOLL_CTL_MOD, watched, flags, token) == 0
    }

    func remove(_ watched: CInt) {
        _ = parley_epoll_control(descriptor, EPOLL_CTL_DEL, watched, 0, 0)
    }

    /// Waits until something happens or the deadline passes, then hands over what happened (wakings aside).
    func wait(until deadline: Instant?, _ handle: (Event) -> Void) {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.eventCountMax) { events in
            let count = epoll_wait(
                descriptor, events.baseAddress, CInt(Self.eventCountMax), milliseconds(until: deadline))
            guard count > 0 else { return }
            for index in 0..<Int(count) {
                let flags = events[index].events
                let token = parley_epoll_token(&events[index])
                guard token != Self.wakerToken else { continue }
                // Errors and hang-ups arrive as flags of their own; reading finds out what they are.
                let isReadable = flags & ~parley_epoll_out != 0
                handle(Event(token: token, isReadable: isReadable, isWritable: flags & parley_epoll_out != 0))
            }
        }
    }
}
