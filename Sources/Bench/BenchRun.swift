// The parts that all workloads share: settings, nodes, accounts, and observations while they run.
import Domain
import Linux

struct BenchRun: Sendable {
    let settings: BenchSettings
    let endpoints: [Endpoint]
    let accounts: any Accounts

    init(_ settings: BenchSettings) throws {
        self.settings = settings
        let endpoints = try settings.urls.map { url throws(Endpoint.Failure) in try Endpoint(url: url) }
        self.endpoints = endpoints
        accounts =
            if let url = settings.databaseURL { InsertedAccounts(conninfo: url) } else {
                RegisteredAccounts(endpoint: endpoints[0])
            }
    }

    /// Creates a direct thread for each pair and returns the threads' ids.
    func directThreads(_ pairs: [(Account, Account)]) async throws -> [String] {
        let calls = pairs.map { first, second in
            let body: JSONValue = .object([
                .init("kind", .string("direct")), .init("members", .array([.string(second.id)])),
            ])
            return Call("POST", "/v1/threads", token: first.token, body: body, status: 201)
        }
        return try await Calls.run(calls, at: endpoints[0]).map { try $0.string("id") }
    }

    /// Members of a group.
    static let groupSize = 10

    /// Creates a group of each list of members, by its first one, and returns the threads' ids.
    func groups(_ groups: [[Account]]) async throws -> [String] {
        let calls = groups.enumerated().map { number, members in
            let body: JSONValue = .object([
                .init("kind", .string("group")), .init("title", .string("Bench \(number)")),
                .init("members", .array(members.dropFirst().map { .string($0.id) })),
            ])
            return Call("POST", "/v1/threads", token: members[0].token, body: body, status: 201)
        }
        return try await Calls.run(calls, at: endpoints[0]).map { try $0.string("id") }
    }

    /// Creates a public room that all accounts join, and returns its id.
    func room(of accounts: [Account]) async throws -> String {
        let title: JSONValue = .object([.init("title", .string("Bench \(UInt64.random(in: 0...UInt64.max))"))])
        let calls = accounts.map { Call("POST", "/v1/rooms", token: $0.token, body: title, status: 200, 201) }
        // The first call creates the room.
        let id = try await Calls.run([calls[0]], at: endpoints[0])[0].string("id")
        _ = try await Calls.run(Array(calls.dropFirst()), at: endpoints[0], connectionCount: 16)
        return id
    }

    /// Runs `body` and returns what it cost.
    /// - Parameters:
    ///   - start: when to begin; now, if it is nil.
    ///   - baseline: processes of a server that is measured instead of the nodes and their database.
    func observing<Value>(
        from start: MonotonicTime? = nil, baseline: [Int]? = nil, _ body: () async throws -> Value
    ) async throws -> (value: Value, usage: Usage) {
        let database = baseline == nil ? settings.databaseURL.map(DatabaseReader.init) : nil
        do {
            // Opens the session, and its first answers are slower than others.
            _ = try await database?.read()
            if let start { try await Progress.sleep(until: start) }
            let before = try await counters(baseline, database)
            let value = try await body()
            let usage = usage(from: before, to: try await counters(baseline, database))
            await database?.close()
            return (value, usage)
        } catch {
            await database?.close()
            throw error
        }
    }

    /// What the measured time of `phases` cost.
    func observe(_ phases: Phases) async throws -> Usage {
        try await observing(from: phases.measureFrom) { try await phases.waitForEnd() }.usage
    }

    private struct Counters {
        let cpu: CPUTimes
        let database: DatabaseReading
        /// Nil for a baseline.
        let metrics: NodeMetrics?
    }

    /// Processor time is read first, because reading the others costs some.
    private func counters(_ baseline: [Int]?, _ database: DatabaseReader?) async throws -> Counters {
        let cpu = try CPUTimes.now(serverPIDs: baseline ?? settings.serverPIDs, postgresPID: settings.postgresPID)
        let reading = try await database?.read() ?? DatabaseReading()
        return Counters(
            cpu: cpu, database: reading, metrics: baseline == nil ? try await NodeMetrics.read(endpoints) : nil)
    }

    private func usage(from before: Counters, to after: Counters) -> Usage {
        var usage = Usage(cpu: after.cpu - before.cpu)
        guard let metricsBefore = before.metrics, let metrics = after.metrics else { return usage }
        usage.batching = Batching(from: metricsBefore, to: metrics)
        usage.database = DatabaseGrowth(from: before.database, to: after.database)
        usage.notes = missing + after.database.notes
        return usage
    }

    /// Which flags the figures of a node would need.
    private var missing: [String] {
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
