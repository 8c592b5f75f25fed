// What the connections of one event loop share: the sweep's list, the coarse clock, the date. Confined to its loop.

import NIOCore

/// Runs a task's jobs on an event loop, so that a request's task never leaves its connection's thread by itself.
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

/// One event loop's share of a server. Not `Sendable`: reached through `NIOLoopBound` only.
final class LoopState {
    let server: ServerState
    let eventLoop: any EventLoop
    let executor: LoopTaskExecutor
    /// The clock of all time-outs, moved by the sweep: reading the real one per request would cost for nothing.
    private(set) var now = NIODeadline.now()
    /// The lines that all answers have, with their CRLFs: the date, and what browsers must not do with an answer.
    private(set) var commonLines = ByteBuffer()
    /// Where answers are put together; its storage is used again once the last answer is written.
    var scratch = ByteBuffer()
    private(set) var connections: [HTTPConnection] = []
    /// When the sweep is to look at each of them. Apart from them, because most are waiting polls that needn't be looked at,
    /// and to find that out from ten thousand objects would cost a tenth of what such a node does.
    private(set) var lookTimes: [NIODeadline] = []
    /// Bytes that the kernel hasn't taken yet, over all connections, as of the last sweep.
    var unsentByteCount = 0
    /// Bytes of bodies that have come and whose requests are not answered.
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

    /// Also lets go of itself.
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

    /// A moment at least `timeout` away. The coarse clock may be one interval behind, so one is added.
    func deadline(after timeout: Duration) -> NIODeadline { now + TimeAmount(timeout) + sweepInterval }

    /// Once a second for all answers of that second.
    private func renderCommonLines() {
        commonLines = ByteBuffer(
            string: "Date: \(HTTPDate.now())\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n")
        // A year, for this host alone (RFC 6797).
        if server.settings.tls != nil {
            commonLines.writeStaticString("Strict-Transport-Security: max-age=31536000\r\n")
        }
    }

    private func tick() {
        now = .now()
        renderCommonLines()
        unsentByteCount = 0
        // From the end, as in `forEachConnection`.
        for slot in lookTimes.indices.reversed() where slot < lookTimes.count && lookTimes[slot] <= now {
            connections[slot].tick()
        }
        if unsentByteCount > unsentShare { cutStalled() }
        idle.clear()
        memory.tick(byteCount: heldByteCount + unsentByteCount, now: now)
    }

    /// Each loop has the same part of what may wait.
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

    /// From the end, because a connection that closes meanwhile is replaced in the list by the last one.
    func forEachConnection(_ body: (HTTPConnection) -> Void) {
        var index = connections.count - 1
        while index >= 0 {
            if index < connections.count { body(connections[index]) }
            index -= 1
        }
    }
}
