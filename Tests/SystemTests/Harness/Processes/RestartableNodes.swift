// Nodes that are killed and restarted at the same addresses, as a supervisor would do.

import Foundation
import TestSupport
import Testing

/// Several nodes on one database. Each keeps its address over restarts.
actor RestartableNodes {
    /// How a node reaches the database (a libpq connection string), and its other settings.
    struct Place: Sendable {
        let database: String
        var settings: [String: String] = [:]
    }

    nonisolated let addresses: [Address]
    private let places: [Place]
    private var nodes: [Node]

    private init(places: [Place], nodes: [Node]) {
        self.places = places
        self.nodes = nodes
        addresses = nodes.map(\.address)
    }

    static func start(_ count: Int, on database: String, settings: [String: String] = [:]) async throws
        -> RestartableNodes
    {
        try await start(Array(repeating: Place(database: database, settings: settings), count: count))
    }

    static func start(_ places: [Place]) async throws -> RestartableNodes {
        let nodes = try await withThrowingTaskGroup(of: (Int, Node).self) { group in
            var ports: [Int] = []
            for (index, place) in places.enumerated() {
                let port = try Sockets.freePort(not: ports)
                ports.append(port)
                group.addTask { (index, try await start(place, port: port)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        return RestartableNodes(places: places, nodes: nodes.sorted { $0.0 < $1.0 }.map(\.1))
    }

    private static func start(_ place: Place, port: Int) async throws -> Node {
        try await Node.start(database: place.database, port: port, settings: place.settings)
    }

    subscript(index: Int) -> Node { nodes[index] }

    /// kill -9.
    func kill(_ index: Int) async throws {
        expectAlive(index)
        try await nodes[index].kill()
    }

    /// Sends SIGTERM, also while anything is broken, and waits for the end.
    func stop(_ index: Int) async throws {
        expectAlive(index)
        let (exit, took) = try await nodes[index].stop()
        #expect(exit == .status(0), "node \(index): \(exit) after \(took)")
    }

    /// Fails if the node has ended by itself.
    private func expectAlive(_ index: Int) {
        let program = nodes[index].program
        #expect(program.exit == nil, "node \(index) has ended by itself: \(program.errors.suffix(4_000))")
    }

    /// Restarts a node that has ended. Retries while the database is not available.
    func restart(_ index: Int, within limit: Duration = .seconds(60)) async throws {
        let (place, port) = (places[index], addresses[index].port)
        nodes[index] = try await eventually("node \(index) to restart", within: limit, every: .milliseconds(200)) {
            try await Self.start(place, port: port)
        }
    }

    /// Runs `work` for each number below `count`, three at once, while nodes are killed and restarted in turn.
    nonisolated func killInTurn(
        during count: Int, _ work: @escaping @Sendable (_ number: Int) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<3 {
                group.addTask { for number in stride(from: lane, to: count, by: 3) { try await work(number) } }
            }
            group.addTask {
                for round in 0..<4 {
                    try await Task.sleep(for: .milliseconds(300))
                    try await self.kill(round % 2)
                    try await self.restart(round % 2)
                }
            }
            try await group.waitForAll()
        }
        try await waitUntil(ready: true)
    }

    func waitUntil(ready: Bool, within limit: Duration = .seconds(30)) async throws {
        for node in nodes { try await node.waitUntil(ready: ready, within: limit) }
    }

    func stopAll() async throws {
        for index in nodes.indices { try await stop(index) }
    }
}
