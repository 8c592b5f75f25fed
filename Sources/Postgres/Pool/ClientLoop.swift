// The I/O thread of a client: carries out what the pool decides. All libpq calls on ready connections are here.

import CLibpq
import Linux
import Logging

/// Each pass waits, reads what arrived, updates the pool and gets its decisions under the lock, and then resumes
/// callers and sends.
struct ClientLoop {
    private let shared: ClientShared
    private let sockets: EpollSet
    private var links: [ConnectionID: PipelinedConnection] = [:]
    private var outcomes: [(connection: ConnectionID, outcome: PipelinedConnection.Outcome)] = []
    private var readLinks: [ConnectionID] = []
    private var losses: [ConnectionID] = []
    private var isServerReadOnly = false
    private var actions: [PoolState<Request>.Action] = []
    private var results: [(Request, Result<Rows, any Error>)] = []
    private var deadline: Instant?

    init(_ shared: ClientShared, _ sockets: EpollSet) {
        self.shared = shared
        self.sockets = sockets
    }

    /// Runs until the pool has shut down.
    mutating func run() {
        while turn() { readArrived() }
        shared.ended()
    }

    private mutating func readArrived() {
        var events: [EpollSet.Event] = []
        // A loss is reported at once, because its statements may go to another connection.
        _ = sockets.wait(milliseconds: milliseconds(until: losses.isEmpty ? deadline : .now)) { events.append($0) }
        for event in events {
            guard let link = links[event.token], !losses.contains(event.token) else { continue }
            let wasBlocked = link.isBlocked
            var isAlive = true
            if event.isReadable {
                readLinks.append(link.id)
                isAlive = link.readable { outcomes.append((link.id, $0)) }
            }
            if isAlive, event.isWritable { isAlive = link.writable() }
            if !isAlive || !watchWriting(link, wasBlocked: wasBlocked) { losses.append(link.id) }
        }
    }

    /// Updates epoll when a connection's socket became full or has room again. Returns false if that failed.
    private func watchWriting(_ link: PipelinedConnection, wasBlocked: Bool) -> Bool {
        link.isBlocked == wasBlocked || sockets.setWriting(link.isBlocked, link.socket, token: link.id)
    }

    /// One pass. Returns false when the thread must end.
    private mutating func turn() -> Bool {
        let (shared, now) = (shared, Instant.now)
        let (arrivals, failures, unwanted) = shared.state.withLock { state in
            state.isWakePending = false
            let arrivals = state.arrivals
            state.arrivals = []
            var unwanted: [ConnectionID] = []
            for arrival in arrivals {
                switch arrival.result {
                case .success:
                    if !state.pool.connected(arrival.connection, now: now) { unwanted.append(arrival.connection) }
                case .failure(let failure):
                    state.pool.connectFailed(
                        arrival.connection, failure, now: now, random: .random(in: 0..<1))
                }
            }
            recordProgress(&state.pool, now)
            let failures = recordLosses(&state.pool, now)
            state.pool.step(now: now, &actions)
            deadline = state.pool.nextDeadline()
            return (arrivals, failures, unwanted)
        }
        if isServerReadOnly { shared.serverIsReadOnly?() }
        isServerReadOnly = false
        for (request, result) in results { request.done(result) }
        for (request, error) in failures { request.done(.failure(error)) }
        results.removeAll(keepingCapacity: true)
        for connection in losses { close(connection, isLost: true) }
        losses.removeAll(keepingCapacity: true)
        for arrival in arrivals where !unwanted.contains(arrival.connection) { adopt(arrival) }
        return act()
    }

    private mutating func recordProgress(_ pool: inout PoolState<Request>, _ now: Instant) {
        for id in readLinks {
            pool.progressed(id, now: now)
            pool.setBlocked(id, links[id]?.isBlocked ?? false)
        }
        readLinks.removeAll(keepingCapacity: true)
        for (connection, outcome) in outcomes {
            let result: Result<Rows, any Error>
            switch outcome {
            case .rows(let rows): result = .success(rows)
            case .failure(let error):
                // In a read-only pool the statement is at fault, not the server.
                if error.sqlState == "25006", !shared.settings.isReadOnly {
                    pool.isReadOnly(connection, now: now, random: .random(in: 0..<1))
                    isServerReadOnly = true
                }
                if error.isTimeout { pool.totals.timeoutCount += 1 } else { pool.totals.serverErrorCount += 1 }
                result = .failure(PostgresError.server(error))
            case .mustPrepareAgain(let error):
                if pool.retry(connection, now: now) {
                    pool.totals.retryCount += 1
                    continue
                }
                pool.totals.serverErrorCount += 1
                result = .failure(PostgresError.server(error))
            }
            if let request = pool.finished(connection, now: now) { results.append((request, result)) }
        }
        outcomes.removeAll(keepingCapacity: true)
    }

    private mutating func recordLosses(_ pool: inout PoolState<Request>, _ now: Instant) -> [(Request, PostgresError)] {
        var failures: [(Request, PostgresError)] = []
        for id in losses {
            failures += pool.lost(
                // Without a connection nothing was ever sent.
                id, unsentCount: links[id]?.unsentCount ?? .max, now: now, random: .random(in: 0..<1))
        }
        return failures
    }

    private mutating func act() -> Bool {
        defer { actions.removeAll(keepingCapacity: true) }
        for action in actions {
            switch action {
            case .connect(let id): connect(id)
            case .send(_, let request, let id):
                // A connection that could not be adopted is lost. The next pass reports that to the pool.
                guard let link = links[id] else { continue }
                let wasBlocked = link.isBlocked
                let isAlive = link.send(request) && watchWriting(link, wasBlocked: wasBlocked)
                if link.isBlocked != wasBlocked { readLinks.append(id) }
                if !isAlive, !losses.contains(id) { losses.append(id) }
            case .fail(let request, let error): request.done(.failure(error))
            case .close(let id): close(id, isLost: true)
            case .stop:
                links = [:]
                return false
            }
        }
        return true
    }

    private func connect(_ id: ConnectionID) {
        let shared = shared
        do {
            try startThread("pg-connect") {
                let result = Result { () throws(ConnectFailure) in
                    try Dial.connect(shared.settings, logger: shared.logger, stop: shared.stop).handle
                }
                shared.arrive(ClientShared.Arrival(connection: id, result: result))
            }
        } catch {
            shared.arrive(
                .init(connection: id, result: .failure(ConnectFailure(reason: "cannot start a thread: \(error)"))))
        }
    }

    private mutating func adopt(_ arrival: ClientShared.Arrival) {
        switch arrival.result {
        case .failure(let failure):
            shared.log.warning("cannot connect to the database", reason: failure.reason)
        case .success(let handle):
            let id = arrival.connection
            guard
                let link = PipelinedConnection(handle, id: id, shared.settings),
                sockets.add(link.socket, token: id)
            else {
                losses.append(id)
                return
            }
            links[id] = link
            shared.logger.debug("connected to the database", metadata: ["connection": "\(id)"])
        }
    }

    private mutating func close(_ id: ConnectionID, isLost: Bool) {
        guard let link = links.removeValue(forKey: id) else { return }
        if link.socket >= 0 { sockets.remove(link.socket) }
        guard isLost else { return }
        shared.logger.notice(
            "database connection lost",
            metadata: ["connection": "\(id)", "sqlstate": .string(link.lastSQLState ?? "none")])
    }
}
