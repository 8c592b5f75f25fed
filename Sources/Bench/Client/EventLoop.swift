// One thread's wait for many connections and timers. Connections and timers know what happens then.
import Linux

/// An epoll loop. The thread that runs it owns it and all its connections; other threads may only use its waker.
package final class EventLoop {
    /// The read buffer of all connections: an answer that arrived whole is handled in place.
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 262_144, alignment: 16)
    /// The buffer for requests that differ each time. It is free again once a connection has taken the request. It has
    /// room for the longest text of `--bytes` with its request.
    let requestSpace = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    private let sockets: EpollSet
    private let waker: Waker
    private var onWake: () -> Void = {}
    private var timers = TimerQueue()
    private var isStopped = false

    /// A slot's generation distinguishes its present connection from earlier ones.
    private var slots: [(connection: Connection?, generation: UInt32)] = []
    private var freeSlots: [Int] = []

    package init(waker: Waker) throws(SystemFailure) {
        self.waker = waker
        sockets = try EpollSet(waker: waker)
    }

    deinit {
        scratch.deallocate()
        requestSpace.deallocate()
    }

    /// Calls `work` on the loop's thread at that time.
    package func schedule(at time: MonotonicTime, _ work: @escaping () -> Void) { timers.add(time, work) }

    /// Calls `work` every `seconds` for as long as the loop runs.
    package func every(seconds: Double, _ work: @escaping () -> Void) {
        schedule(at: MonotonicTime.now + seconds) { [unowned self] in
            work()
            every(seconds: seconds, work)
        }
    }

    /// Sets what to do when the waker is woken.
    package func whenWoken(_ work: @escaping () -> Void) { onWake = work }

    /// Makes `run` return once it has handled the events of its last wait.
    package func stop() { isStopped = true }

    /// Runs until `stop`, or until its waker is interrupted. Timers and connections stay as they are; nothing is
    /// closed.
    package func run() {
        isStopped = waker.isInterrupted
        while !isStopped {
            if sockets.wait(milliseconds: timers.waitMs(), dispatch) {
                if waker.isInterrupted { stop() } else { onWake() }
            }
            while !isStopped, let work = timers.next() { work() }
        }
    }

    private func dispatch(_ event: EpollSet.Event) {
        let (connection, generation) = slots[Int(event.token & 0xffff_ffff)]
        // An earlier event of the same wait may have closed the connection, and another may have its slot.
        guard let connection, generation == UInt32(event.token >> 32) else { return }
        connection.ready(isReadable: event.isReadable, isWritable: event.isWritable)
    }

    // MARK: For connections

    /// Watches a connection's socket; the token is for `change` and `forget`.
    func watch(_ socket: CInt, for connection: Connection) -> UInt64 {
        let slot = freeSlots.popLast() ?? slots.count
        if slot == slots.count { slots.append((nil, 0)) }
        slots[slot].connection = connection
        slots[slot].generation &+= 1
        let token = UInt64(slots[slot].generation) << 32 | UInt64(slot)
        // It fails only without memory. The connection is then never ready, and its owner's time limit ends it.
        _ = sockets.add(socket, token: token, isWriting: true)
        return token
    }

    func change(_ socket: CInt, _ token: UInt64, wantsToWrite: Bool) {
        _ = sockets.setWriting(wantsToWrite, socket, token: token)
    }

    /// Before the socket is closed.
    func forget(_ socket: CInt, _ token: UInt64) {
        sockets.remove(socket)
        let slot = Int(token & 0xffff_ffff)
        slots[slot].connection = nil
        slots[slot].generation &+= 1
        freeSlots.append(slot)
    }
}
