// Nodes that are killed and started again at the same addresses, as a supervisor would have it.

import Foundation
import TestSupport
import Testing

/// Some nodes on one database. Each keeps its address through all its lives.
actor Fleet {
    nonisolated let database: String
    nonisolated let addresses: [Address]
    private let settings: [String: String]
    private var nodes: [Node]

    private init(database: String, settings: [String: String], nodes: [Node]) {
        self.database = database
        self.settings = settings
        self.nodes = nodes
        addresses = nodes.map(\.address)
    }

    static func start(_ count: Int, on database: String, settings: [String: String] = [:]) async throws -> Fleet {
        // The first alone: it migrates, and the others find it done.
        var nodes: [Node] = []
        for _ in 0..<count {
            nodes.append(try await Node.start(database: database, port: try Sockets.freePort(), settings: settings))
        }
        return Fleet(database: database, settings: settings, nodes: nodes)
    }

    subscript(index: Int) -> Node { nodes[index] }

    /// kill -9.
    func kill(_ index: Int) async throws { try await nodes[index].kill() }

    /// SIGTERM, and what it did with it.
    @discardableResult
    func stop(_ index: Int) async throws -> Program.Exit { try await nodes[index].stop().exit }

    /// A new life for one that has ended, once the database lets it: a node that can't start is tried again.
    func restart(_ index: Int, within limit: Duration = .seconds(30)) async throws {
        let (database, port, settings) = (database, addresses[index].port, settings)
        nodes[index] = try await eventually("a new life of node \(index)", within: limit, every: .milliseconds(200)) {
            try await Node.start(database: database, port: port, settings: settings)
        }
    }

    func waitUntil(ready: Bool, within limit: Duration = .seconds(30)) async throws {
        for node in nodes { try await node.waitUntil(ready: ready, within: limit) }
    }

    func stopAll() async throws {
        for node in nodes { _ = try await node.stop() }
    }
}
