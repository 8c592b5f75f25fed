// The pool's decisions about connections that open, fail, stall and close.
import Linux

extension PoolState {
    /// An attempt to connect succeeded. Returns false when the connection is no longer wanted: close it.
    mutating func connected(_ connection: ConnectionID, now: Instant) -> Bool {
        guard phase == .open, let index = index(of: connection) else { return false }
        members[index].isReady = true
        members[index].progressAt = now
        failure = nil
        totals.connectCount += 1
        return true
    }

    /// - Parameter random: from 0 up to 1.
    mutating func connectFailed(
        _ connection: ConnectionID, _ failure: ConnectFailure, now: Instant, random: Double
    ) {
        guard let index = index(of: connection) else { return }
        members.remove(at: index)
        self.failure = failure
        connectNotBefore = now + backoff.next(random: random)
        totals.connectFailureCount += 1
    }

    /// Bytes arrived.
    mutating func progressed(_ connection: ConnectionID, now: Instant) {
        guard let index = index(of: connection) else { return }
        members[index].progressAt = now
    }

    /// The socket is full, or has room again.
    mutating func setBlocked(_ connection: ConnectionID, _ isBlocked: Bool) {
        guard let index = index(of: connection) else { return }
        members[index].isBlocked = isBlocked
    }

    /// A connection broke. The last `unsentCount` statements in flight were never sent: they return to the head of the
    /// queue in order. The others are returned with their error.
    mutating func lost(
        _ connection: ConnectionID, unsentCount: Int, now: Instant, random: Double
    ) -> [(Work, PostgresError)] {
        guard let index = index(of: connection) else { return [] }
        var member = members.remove(at: index)
        totals.lostCount += 1
        // A connection that never finished anything counts as a failed attempt. Otherwise a server that drops all
        // connections would be flooded with new ones.
        if !member.hasFinishedAny { connectNotBefore = now + backoff.next(random: random) }
        var failed: [(Work, PostgresError)] = []
        for _ in 0..<min(unsentCount, member.inFlight.count) {
            guard let id = member.inFlight.popLast(), let entry = entries[id] else { continue }
            if entry.work != nil, phase == .open, entry.sendCount < limits.sendCountMax {
                waitAgain(id)
                continue
            }
            entries[id] = nil
            if let work = entry.work {
                failed.append((work, phase == .open ? .connectionLost(wasSent: false) : .closed))
            }
        }
        while let id = member.inFlight.popFirst() {
            guard let work = entries.removeValue(forKey: id)?.work else { continue }
            failed.append((work, .connectionLost(wasSent: true)))
        }
        return failed
    }

    /// The server behind a connection is read-only: a standby, or a former primary. All current connections accept no
    /// more statements and close when those in flight are done; new connections may reach the primary.
    mutating func isReadOnly(_ connection: ConnectionID, now: Instant, random: Double) {
        guard let index = index(of: connection), !members[index].isLeaving else { return }
        leaveConnections(now: now, random: random)
    }

    mutating func leaveConnections(now: Instant, random: Double) {
        for index in members.indices where members[index].isReady { members[index].isLeaving = true }
        connectNotBefore = now + backoff.next(random: random)
    }

    mutating func closeLeaving(_ actions: inout [Action]) {
        for member in members where member.isLeaving && member.inFlight.isEmpty {
            actions.append(.close(member.id))
            totals.lostCount += 1
        }
        members.removeAll { $0.isLeaving && $0.inFlight.isEmpty }
    }

    /// Accepts no more statements. Waiting ones fail; those in flight have `drainMax` to end.
    mutating func beginShutdown(now: Instant, drainMax: Duration) {
        guard phase == .open else { return }
        phase = .draining
        end(by: now + drainMax)
    }

    /// Closes the pool at this time at the latest: whatever waits or is in flight then fails. Until then the pool works
    /// as before.
    mutating func end(by time: Instant) { endsAt = min(time, endsAt ?? time) }

    func isOver(_ now: Instant) -> Bool { endsAt.map { now >= $0 } ?? false }

    mutating func drain(now: Instant, _ actions: inout [Action]) {
        while let id = waiting.popFirst() {
            guard let entry = entries.removeValue(forKey: id), let work = entry.work else { continue }
            actions.append(.fail(work, .closed))
        }
        waitingCount = 0
        guard inFlightCount == 0 || isOver(now) else { return }
        for member in members { failInFlight(member, &actions) }
        members = []
        phase = .closed
        actions.append(.stop)
    }

    mutating func closeStalled(now: Instant, _ actions: inout [Action]) {
        guard let stallMax = limits.stallMax else { return }
        for member in members where !member.inFlight.isEmpty && now >= member.progressAt + stallMax {
            failInFlight(member, &actions)
            actions.append(.close(member.id))
            totals.lostCount += 1
        }
        members.removeAll { !$0.inFlight.isEmpty && now >= $0.progressAt + stallMax }
    }

    private mutating func failInFlight(_ member: Member, _ actions: inout [Action]) {
        var member = member
        while let id = member.inFlight.popFirst() {
            guard let work = entries.removeValue(forKey: id)?.work else { continue }
            actions.append(.fail(work, .connectionLost(wasSent: true)))
        }
    }

    /// Fails statements whose time is over. Fails all if the database refuses this client and no connection is left.
    mutating func failWaiting(now: Instant, _ actions: inout [Action]) {
        let isRefused = failure?.isRefusal == true && readyCount == 0 && !isConnecting && isBackingOff(now)
        func isLate(_ id: RequestID) -> Bool { isRefused || entries[id].map { now >= $0.deadline } ?? true }
        while let id = hurried.first, !isWaiting(id) || isLate(id) {
            hurried.removeFirst()
            failWaiting(id, &actions)
        }
        while let id = waiting.first, !isWaiting(id) || isLate(id) {
            _ = waiting.popFirst()
            failWaiting(id, &actions)
        }
    }

    private func isWaiting(_ id: RequestID) -> Bool { entries[id].map { $0.isWaiting && $0.work != nil } ?? false }

    /// Does nothing if the statement no longer waits.
    private mutating func failWaiting(_ id: RequestID, _ actions: inout [Action]) {
        guard isWaiting(id), let work = entries.removeValue(forKey: id)?.work else { return }
        waitingCount -= 1
        totals.waitTimeoutCount += 1
        actions.append(.fail(work, waitError))
    }

    private func isBackingOff(_ now: Instant) -> Bool { connectNotBefore.map { now < $0 } ?? false }

    private var waitError: PostgresError {
        guard readyCount == 0 else { return .waitTimedOut }
        return .unavailable(failure?.reason ?? "still connecting")
    }
}
