// What a period cost, from counters that are read before and after it.
import Domain

/// Reads the counters of the nodes and of their database.
struct Observer: Sendable {
    private struct Counters {
        let cpu: CPUTimes
        let database: DatabaseReading
        /// Nil for a baseline.
        let metrics: NodeMetrics?
    }

    private let bench: BenchRun
    private let baseline: [Int]?
    private let database: DatabaseReader?
    /// What the counters were when this was created.
    private let first: Counters

    /// Reads the counters for the first time, so create it before what it observes begins.
    /// - Parameter baseline: processes of a server that is measured instead of the nodes and their database.
    init(_ bench: BenchRun, baseline: [Int]? = nil) async throws {
        self.bench = bench
        self.baseline = baseline
        database = baseline == nil ? bench.settings.databaseURL.map(DatabaseReader.init) : nil
        do {
            // Opens the session, and its first answers are slower than others.
            _ = try await database?.read()
            first = try await Self.counters(bench, baseline, database)
        } catch {
            await database?.close()
            throw error
        }
    }

    /// Runs `body` and returns what it cost. The observer ends with it.
    func observe<Value>(_ body: () async throws -> Value) async throws -> (value: Value, usage: Usage) {
        try await closing {
            let value = try await body()
            return (value, try await usage(since: first))
        }
    }

    /// Returns what the measured time of `phases` cost. The observer ends with it. Without a warm-up, that is since the
    /// observer was created: reading the counters takes longer than many messages.
    func observe(_ phases: Phases) async throws -> Usage {
        try await closing {
            var before = first
            if phases.measureFrom > phases.start {
                try await Progress.sleep(until: phases.measureFrom)
                before = try await Self.counters(bench, baseline, database)
            }
            try await phases.waitForEnd()
            return try await usage(since: before)
        }
    }

    private func closing<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            let value = try await body()
            await database?.close()
            return value
        } catch {
            await database?.close()
            throw error
        }
    }

    /// Processor time is read first, because reading the others costs some.
    private static func counters(
        _ bench: BenchRun, _ baseline: [Int]?, _ database: DatabaseReader?
    ) async throws -> Counters {
        let settings = bench.settings
        let cpu = try CPUTimes.now(serverPIDs: baseline ?? settings.serverPIDs, postgresPID: settings.postgresPID)
        let reading = try await database?.read() ?? DatabaseReading()
        return Counters(
            cpu: cpu, database: reading, metrics: baseline == nil ? try await NodeMetrics.read(bench.endpoints) : nil)
    }

    private func usage(since before: Counters) async throws -> Usage {
        let after = try await Self.counters(bench, baseline, database)
        var usage = Usage(cpu: after.cpu - before.cpu)
        guard let metricsBefore = before.metrics, let metrics = after.metrics else { return usage }
        usage.batching = Batching(from: metricsBefore, to: metrics)
        usage.database = DatabaseGrowth(from: before.database, to: after.database)
        usage.notes = missing + after.database.notes
        return usage
    }

    /// Which flags the figures of a node would need.
    private var missing: [String] {
        let settings = bench.settings
        var notes: [String] = []
        if settings.serverPIDs.isEmpty {
            notes.append("Processor time of the nodes is left out: name local nodes with --server-pid.")
        }
        if settings.postgresPID == nil {
            notes.append("Processor time of PostgreSQL is left out: name a local one with --postgres-pid.")
        }
        if settings.databaseURL == nil { notes.append("WAL and disk bytes are left out: set --database.") }
        return notes
    }
}
