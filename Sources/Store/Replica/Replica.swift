// Reads on a replica. `ReplicaState` decides, this acts.
import Logging
import Postgres
import Synchronization
import Telemetry

/// Where reads run that may run on a replica: without one, on the primary.
struct ReplicaReads: QueryRunner {
    private let primary: Pool
    private let replica: Replica?
    let metrics = ReplicaMetrics()

    init(primary: Pool, _ clients: ReplicaClients?) {
        self.primary = primary
        replica = clients.map { [metrics] in Replica(primary: primary, $0, metrics) }
    }

    func rows(_ query: some Query, _ parameters: [Parameter]) async throws -> Rows {
        guard let replica else { return try await primary.rows(query, parameters) }
        return try await replica.rows(query, parameters)
    }

    /// Runs until cancelled. Before and after, the primary answers all reads.
    func run() async throws { try await replica?.run() }
}

extension Store {
    /// What the node counts about reads on the replica.
    package var replicaMetrics: ReplicaMetrics { replica.metrics }

    /// Uses the replica for reads, if there is one. Runs until cancelled.
    package func followReplica() async throws { try await replica.run() }
}

/// Runs a read on the replica if it has replayed everything that the primary showed at a moment after the read arrived. So
/// nobody gets an older answer than any node gave before. Otherwise, and whenever the replica fails, the primary answers.
final class Replica: Sendable {
    typealias ReadID = ReplicaState.ReadID
    typealias Waiter = CheckedContinuation<ReplicaState.Place, any Error>

    private struct State {
        var decisions: ReplicaState
        var waiters: [ReadID: Waiter] = [:]
    }

    private let primary: Pool
    private let clients: ReplicaClients
    private let metrics: ReplicaMetrics
    private let log: RateLimitedLog
    private let state = Mutex(State(decisions: ReplicaState(now: .now)))
    /// The timer has a deadline.
    private let wake = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(primary: Pool, _ clients: ReplicaClients, _ metrics: ReplicaMetrics) {
        (self.primary, self.clients, self.metrics) = (primary, clients, metrics)
        log = RateLimitedLog(clients.logger)
    }

    func rows(_ query: some Query, _ parameters: [Parameter]) async throws -> Rows {
        let reason: PrimaryReason
        let start = ContinuousClock.now
        switch try await place() {
        case .primary(let found): reason = found
        case .replica(let bound):
            metrics.waits.record(ContinuousClock.now - start)
            do {
                let rows = try await clients.reads.query(
                    query.statement(parameterCount: parameters.count), parameters, after: bound.check)
                metrics.reads.add()
                return rows
            } catch let error as PostgresError {
                guard let found = PrimaryReason(error) else {
                    metrics.reads.add()
                    throw primary.problem(error)
                }
                reason = found
                decide { $0.failed(found, now: $1, random: $2, &$3) }
            }
        }
        metrics.primaryReads.add(reason)
        return try await primary.rows(query, parameters)
    }

    private func place() async throws -> ReplicaState.Place {
        do {
            return try await withCheckedThrowingContinuation { waiter in
                decide(waiter) { $0.arrive(&$1) }
            }
        } catch let error as PostgresError {
            throw primary.problem(error)
        }
    }

    /// Runs the timer, until cancelled.
    func run() async throws {
        defer { decide { $0.close(now: $1, &$3) } }
        decide { $0.tick(now: $1, random: $2, &$3) }
        for await _ in wake.stream {
            while let deadline = state.withLock({ $0.decisions.nextDeadline(now: .now) }) {
                try await Task.sleep(until: deadline, clock: .continuous)
                decide { $0.tick(now: $1, random: $2, &$3) }
            }
        }
        try Task.checkCancellation()
    }

    private func decide(
        _ body: (inout ReplicaState, ContinuousClock.Instant, Double, inout [ReplicaState.Action]) -> Void
    ) {
        act { body(&$0.decisions, .now, .random(in: 0..<1), &$1) }
    }

    private func decide(_ waiter: Waiter, _ body: (inout ReplicaState, inout [ReplicaState.Action]) -> ReadID) {
        act { $0.waiters[body(&$0.decisions, &$1)] = waiter }
    }

    /// Makes decisions under the lock, and carries them out after it is released.
    private func act(_ body: (inout State, inout [ReplicaState.Action]) -> Void) {
        let (actions, waiters, hasDeadline) = state.withLock { state in
            var actions: [ReplicaState.Action] = []
            body(&state, &actions)
            var waiters: [ReadID: Waiter] = [:]
            for action in actions {
                switch action {
                case .settle(let id, _), .fail(let id, _): waiters[id] = state.waiters.removeValue(forKey: id)
                default: break
                }
            }
            return (actions, waiters, state.decisions.nextDeadline(now: .now) != nil)
        }
        if hasDeadline { wake.continuation.yield() }
        for action in actions {
            switch action {
            case .settle(let id, let place): waiters[id]?.resume(returning: place)
            case .fail(let id, let error): waiters[id]?.resume(throwing: error)
            case .askPrimary: askPrimary()
            case .askReplica(let bound): askReplica(bound)
            case .changed(let reason): changed(reason)
            }
        }
    }

    private func askPrimary() {
        primary.client.begin(ReplicaBound.statement, []) { result in
            let bound = result.flatMap { rows in Result { try ReplicaBound(rows.only()) } }
            self.decide { $0.primaryAnswered(bound, now: $1, random: $2, &$3) }
        }
    }

    private func askReplica(_ bound: ReplicaBound) {
        let (statement, parameters) = bound.question
        // Not longer than the reads wait. A connection that is being opened would keep the question.
        clients.watch.begin(statement, parameters, by: .now + ReplicaState.waitMax) { result in
            let report = result.flatMap { rows in Result { try ReplicaReport(rows.only()) } }
            if case .success(let report) = report { self.metrics.lag.set(max(0, Int(bound.lsn - report.replayed))) }
            self.decide { $0.replicaAnswered(report, now: $1, random: $2, &$3) }
        }
    }

    private func changed(_ reason: PrimaryReason?) {
        metrics.isUsed.set(reason == nil ? 1 : 0)
        switch reason {
        case nil: log.info("reads use the replica")
        case .lagging:
            log.warning("the replica lags by more than 200 ms; the primary answers its reads until it catches up")
        case .notAReplica:
            log.warning(
                "the server of PARLEY_READ_URL is not a replica of the primary; the primary answers its reads")
        default:
            log.warning("the replica cannot be used; the primary answers its reads, and the node retries within 2 s")
        }
    }
}

package final class ReplicaMetrics: Metrics {
    let isUsed = Gauge("parley_replica_used", "1 while reads use the replica, otherwise 0.")
    let reads = Counter(
        "parley_replica_reads_total",
        "Reads that the replica of `PARLEY_READ_URL` answered: history, search, member lists, exports.")
    let primaryReads = LabelledCounters<PrimaryReason>(
        "parley_replica_primary_reads_total",
        "Such reads that the primary answered instead, by `reason`: lagging (the replica had not replayed enough within "
            + "0.2 s), away (it cannot be used), not_a_replica (promoted, restored, or of another server), restarted "
            + "(nothing was written since the primary's start), conflict (the replay stopped the read), busy (no connection "
            + "in time).",
        by: "reason")
    let waits = Histogram(
        "parley_replica_wait_seconds", "Time until the replica had replayed what a read on it needs.")
    let lag = Gauge(
        "parley_replica_lag_bytes",
        "WAL that the replica had not replayed when it was last asked, in bytes. It is asked only for reads, and at least "
            + "every 2 s while the primary answers them.")

    package init() {}
}
