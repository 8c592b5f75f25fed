// One thread's wait for many connections and for the time. What is done then is the connections' and timers' affair.
import CEpoll
import Glibc
import Synchronization

/// An epoll loop. It and all that hangs on it belong to the thread that runs it; only its waker may be used elsewhere.
package final class EventLoop {
    private static let eventCountMax = 512
    private static let wakerToken = UInt64.max

    /// Reading space that all connections share: an answer that is whole is handled where it was read.
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 262_144, alignment: 16)
    /// Where requests are written that differ from time to time; free again once they are given to a connection. There is
    /// room for the longest text of `--bytes`, and for all around it.
    let requestSpace = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    private let descriptor: CInt
    private let waker: Waker
    private var onWake: () -> Void = {}
    private var timers = TimerQueue()
    private var isStopped = false

    /// By slot; a slot's turn tells its present connection from the one that had it before.
    private var slots: [(connection: Connection?, turn: UInt32)] = []
    private var freeSlots: [Int] = []

    package init(waker: Waker) throws(SystemFailure) {
        self.waker = waker
        descriptor = cepoll_create()
        guard descriptor >= 0,
            cepoll_control(descriptor, EPOLL_CTL_ADD, waker.descriptor, cepoll_in, Self.wakerToken) == 0
        else { throw SystemFailure(code: errno) }
    }

    deinit {
        scratch.deallocate()
        requestSpace.deallocate()
        if descriptor >= 0 { close(descriptor) }
    }

    /// Calls `work` on the loop's thread once the moment has come.
    package func schedule(at moment: MonotonicTime, _ work: @escaping () -> Void) { timers.add(moment, work) }

    /// Calls `work` every so many seconds, for as long as the loop runs.
    package func every(seconds: Double, _ work: @escaping () -> Void) {
        schedule(at: MonotonicTime.now + seconds) { [unowned self] in
            work()
            every(seconds: seconds, work)
        }
    }

    /// What to do when the waker was woken.
    package func whenWoken(_ work: @escaping () -> Void) { onWake = work }

    /// Makes `run` return once the events at hand are dealt with.
    package func stop() { isStopped = true }

    /// Runs until `stop`, or until its waker is interrupted. What was scheduled and watched stays; nothing is closed.
    package func run() {
        isStopped = waker.isInterrupted
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.eventCountMax) { events in
            while !isStopped {
                let count = epoll_wait(descriptor, events.baseAddress, CInt(Self.eventCountMax), timers.waitMs())
                if count > 0 {
                    for index in 0..<Int(count) { dispatch(&events[index]) }
                }
                while !isStopped, let work = timers.next() { work() }
            }
        }
    }

    private func dispatch(_ event: inout epoll_event) {
        let token = cepoll_token(&event)
        if token == Self.wakerToken {
            waker.rest()
            if waker.isInterrupted { stop() } else { onWake() }
            return
        }
        let (connection, turn) = slots[Int(token & 0xffff_ffff)]
        // An earlier event of the same wait may have closed it, and another may have its place.
        guard let connection, turn == UInt32(token >> 32) else { return }
        // Errors and hang-ups arrive as flags of their own; reading finds out what they are.
        connection.ready(isReadable: event.events & ~cepoll_out != 0, isWritable: event.events & cepoll_out != 0)
    }

    // MARK: For connections

    /// Watches a connection's socket; the token is for `change` and `forget`.
    func watch(_ socket: CInt, for connection: Connection) -> UInt64 {
        let slot = freeSlots.popLast() ?? slots.count
        if slot == slots.count { slots.append((nil, 0)) }
        slots[slot].connection = connection
        slots[slot].turn &+= 1
        let token = UInt64(slots[slot].turn) << 32 | UInt64(slot)
        // It fails only without memory; then the connection never gets ready, and its owner's patience ends.
        _ = cepoll_control(descriptor, EPOLL_CTL_ADD, socket, cepoll_in | cepoll_out, token)
        return token
    }

    func change(_ socket: CInt, _ token: UInt64, wantsToWrite: Bool) {
        _ = cepoll_control(descriptor, EPOLL_CTL_MOD, socket, wantsToWrite ? cepoll_in | cepoll_out : cepoll_in, token)
    }

    /// Before the socket is closed.
    func forget(_ socket: CInt, _ token: UInt64) {
        _ = cepoll_control(descriptor, EPOLL_CTL_DEL, socket, 0, 0)
        let slot = Int(token & 0xffff_ffff)
        slots[slot].connection = nil
        slots[slot].turn &+= 1
        freeSlots.append(slot)
    }
}

/// Wakes an event loop from any thread.
package final class Waker: Sendable {
    fileprivate let descriptor: CInt
    private let interrupted = Atomic(false)

    package init() throws(SystemFailure) {
        descriptor = cepoll_eventfd()
        guard descriptor >= 0 else { throw SystemFailure(code: errno) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    package func wake() { eventfd_write(descriptor, 1) }

    /// Ends the loop's run, and keeps it from running again.
    package func interrupt() {
        interrupted.store(true, ordering: .releasing)
        wake()
    }

    fileprivate var isInterrupted: Bool { interrupted.load(ordering: .acquiring) }

    fileprivate func rest() {
        var count: eventfd_t = 0
        eventfd_read(descriptor, &count)
    }
}
