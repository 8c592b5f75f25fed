// Processes that hang: nodes while they write, and PostgreSQL sessions inside a transaction that holds the log's lock.

import Foundation
import TestSupport
import Testing

extension SystemTests.Faults {
    @Test("nodes paused many times while they write: the others continue, and no message is lost")
    func nodesStopped() async throws {
        let nodes = try await RestartableNodes.start(2, on: try await MigratedDatabase.create())
        let outcome = try await Traffic.run(through: nodes.addresses) { traffic in
            for round in 0..<20 {
                try await traffic.flow(10)
                // PostgreSQL finishes the statements that it has received, so no lock is left behind.
                await nodes[round % 2].whileStopped {
                    await traffic.tryToFlow(5, within: .milliseconds(500))
                }
            }
            try await traffic.flow(60)
        }
        #expect(outcome.statuses.keys.allSatisfy { [200, 201, 503].contains($0) }, "\(outcome.statuses)")
        try await outcome.checkDelivery(on: nodes[0])
        try await nodes.stopAll()
    }

    @Test(
        "a PostgreSQL session paused while its transaction holds the log's lock: 503 meanwhile, no message is lost"
    )
    func sessionStopped() async throws {
        let cluster = try await StoppableCluster.running()
        let database = try await cluster.createDatabase()
        let nodes = try await RestartableNodes.start(2, on: database)
        let outcome = try await Traffic.run(through: nodes.addresses) { traffic in
            try await traffic.flow(60)
            let pid = try await cluster.stopHolderOfLog(of: database)
            defer { kill(pid, SIGCONT) }
            // The wait for the lock ends after 5 s, and a message waits at most 5 s. A call that has begun by then may
            // wait another 5 s.
            try await eventually("a refused message") { traffic.refusalCount > 0 }
            kill(pid, SIGCONT)
            try await traffic.flow(60)
        }
        try await outcome.checkDelivery(onAndStop: nodes)
    }
}

extension TestCluster {
    /// Stops sessions one by one until one holds the log's lock and a node with messages waits for that lock. This session
    /// stays stopped. If no node waits, the stopped session may hold all messages, which fail only with its connection.
    /// Or nodes wait for one of PostgreSQL's internal locks that it holds, and such waits have no timeout.
    fileprivate func stopHolderOfLog(of database: String) async throws -> pid_t {
        try await eventually("a session stopped with the log's lock", within: .seconds(60)) {
            guard let pid = try await sessions().first else { return nil }
            kill(pid, SIGSTOP)
            let alarm = Task {
                try await Task.sleep(for: .seconds(2))
                kill(pid, SIGCONT)
            }
            let isHeld = try await psql(
                """
                select pg_sleep(0.5) from pg_locks
                where relation = 'public.log_lock'::regclass and granted and pid = \(pid);
                select count(*) > 0 from pg_stat_activity a, pg_locks l
                where \(pid) = any (pg_blocking_pids(a.pid)) and l.pid = \(pid) and l.relation = 'public.log_lock'::regclass
                    and a.query ~ 'message_append|log_read'
                """, database: database)
            alarm.cancel()
            if isHeld.hasSuffix("t"), await alarm.result.isCancelled { return pid }
            kill(pid, SIGCONT)
            return nil
        }
    }
}

extension Result {
    fileprivate var isCancelled: Bool {
        if case .failure(is CancellationError) = self { true } else { false }
    }
}
