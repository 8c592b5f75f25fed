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

    /// Creates a public room that all accounts join, and returns its id.
    func room(of accounts: [Account]) async throws -> String {
        let title: JSONValue = .object([.init("title", .string("Bench \(UInt64.random(in: 0...UInt64.max))"))])
        let calls = accounts.map { Call("POST", "/v1/rooms", token: $0.token, body: title, status: 200, 201) }
        // The first call creates the room.
        let id = try await Calls.run([calls[0]], at: endpoints[0])[0].string("id")
        _ = try await Calls.run(Array(calls.dropFirst()), at: endpoints[0], connectionCount: 16)
        return id
    }

    /// Processor time and batching during the measured time.
    struct Observation: Sendable {
        let cpu: CPUTimes
        let batching: Batching
    }

    /// Reads both at the beginning and at the end of the measured time.
    func observe(_ phases: Phases) async throws -> Observation {
        try await Progress.sleep(until: phases.measureFrom)
        let cpuBefore = try cpuTimes()
        let metricsBefore = try await NodeMetrics.read(endpoints)
        try await phases.waitForEnd()
        let cpu = try cpuTimes() - cpuBefore
        let metrics = try await NodeMetrics.read(endpoints)
        return Observation(cpu: cpu, batching: Batching(from: metricsBefore, to: metrics))
    }

    func cpuTimes() throws -> CPUTimes {
        try CPUTimes.now(serverPIDs: settings.serverPIDs, postgresPID: settings.postgresPID)
    }
}
