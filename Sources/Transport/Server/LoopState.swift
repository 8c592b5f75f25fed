// The state that the connections of one event loop share: the list of the sweep, the coarse clock, the date. Confined
// to its loop.

import NIOCore

/// Runs the jobs of tasks on an event loop, so that a request's task stays on its connection's thread.
final class LoopTaskExecutor: TaskExecutor {
    let server: ServerState
    let eventLoop: any EventLoop

    init(server: ServerState, eventLoop: any EventLoop) {
        self.server = server
        self.eventLoop = eventLoop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// One event loop's part of a server. Not `Sendable`: accessed only through `NIOLoopBound`.
final class LoopState {
    let server: ServerState
    let eventLoop: any EventLoop
    let executor: LoopTaskExecutor
    /// The clock of all timeouts. The sweep advances it, so requests need not read the real clock.
    private(set) var now = NIODeadline.now()
    /// The header lines that all answers have, with their CRLFs: the date, and instructions for browsers.
    private(set) var commonLines = ByteBuffer()
    /// The buffer in which answers are rendered. Its storage is reused once the last answer is written.
    var scratch = ByteBuffer()
    private(set) var connections: [HTTPConnection] = []
    /// When the sweep must look at each connection. Kept apart from the connections: most are waiting polls, and
    /// touching ten thousand objects to skip them would cost a tenth of such a node's work.
    private(set) var lookTimes: [NIODeadline] = []
    /// Bytes that the kernel has not taken yet, over all connections, at the last sweep.
    var unsentByteCount = 0
    /// Bytes of received bodies whose requests are not answered.
    var heldByteCount = 0
    var idle = IdleConnections()
    var memory = MemoryReturn()
    private var lastNumber = RequestNumber.random()
    private let sweepInterval: TimeAmount
    private var sweep: RepeatedTask?

    init(server: ServerState, eventLoop: any EventLoop) {
        self.server = server
        self.eventLoop = eventLoop
        self.executor = LoopTaskExecutor(server: server, eventLoop: eventLoop)
        self.sweepInterval = TimeAmount(server.settings.sweepInterval)
        renderCommonLines()
    }

    func nextNumber() -> RequestNumber {
        lastNumber = lastNumber.next
        return lastNumber
    }

    func start() {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        sweep = eventLoop.scheduleRepeatedTask(initialDelay: sweepInterval, delay: sweepInterval) { _ in
            bound.value.tick()
        }
    }

    /// Stops the sweep, and with it the reference to this object.
    func stop() {
        sweep?.cancel()
        sweep = nil
    }

    func add(_ connection: HTTPConnection) {
        connection.slot = connections.count
        connections.append(connection)
        lookTimes.append(connection.lookTime)
    }

    func remove(_ connection: HTTPConnection) {
        guard let slot = connection.slot, let last = connections.popLast(), let lookTime = lookTimes.popLast() else {
            return
        }
        connection.slot = nil
        guard last !== connection else { return }
        connections[slot] = last
        lookTimes[slot] = lookTime
        last.slot = slot
    }

    /// Changes when the sweep looks at the connection in `slot`.
    func setLookTime(_ lookTime: NIODeadline, at slot: Int) { lookTimes[slot] = lookTime }

    /// A time at least `timeout` from now. Adds one sweep interval, because the coarse clock may be that late.
    func deadline(after timeout: Duration) -> NIODeadline { now + TimeAmount(timeout) + sweepInterval }

    /// Called once a second, for all answers of that second.
    private func renderCommonLines() {
        commonLines = ByteBuffer(
            string: "Date: \(HTTPDate.now())\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n")
        // One year, for this host only (RFC 6797).
        if server.settings.tls != nil {
            commonLines.writeStaticString("Strict-Transport-Security: max-age=31536000\r\n")
        }
    }

    private func tick() {
        now = .now()
        renderCommonLines()
        unsentByteCount = 0
        // Backwards, as in `forEachConnection`.
        for slot in lookTimes.indices.reversed() where slot < lookTimes.count && lookTimes[slot] <= now {
            connections[slot].tick()
        }
        if unsentByteCount > unsentShare { cutStalled() }
        idle.clear()
        memory.tick(byteCount: heldByteCount + unsentByteCount, now: now)
    }

    /// Each loop has the same share of the bytes that may wait.
    private var unsentShare: Int { server.settings.unsentTotalByteCountMax / max(1, server.settings.threadCount) }

    private func cutStalled() {
        let stalled = connections.filter { $0.output.mayHaveOutput && now >= $0.output.waitingSince + sweepInterval }
        for (connection, byteCount) in stalled.map({ ($0, $0.unsentByteCount) }).sorted(by: { $0.1 > $1.1 }) {
            guard unsentByteCount > unsentShare else { return }
            unsentByteCount -= byteCount
            server.counters.timeouts.add(1, ordering: .relaxed)
            connection.close()
        }
    }

    /// Backwards: a connection that closes meanwhile is replaced in the list by the last one.
    func forEachConnection(_ body: (HTTPConnection) -> Void) {
        var index = connections.count - 1
        while index >= 0 {
            if index < connections.count { body(connections[index]) }
            index -= 1
        }
    }
}
