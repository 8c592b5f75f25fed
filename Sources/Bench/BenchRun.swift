// The parts that all workloads share: settings, nodes and accounts.
import Domain

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
}
