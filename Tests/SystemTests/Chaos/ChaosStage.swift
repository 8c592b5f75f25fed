// Three nodes on one PostgreSQL, with proxies between all parts, and the code that injects each fault.

import Foundation
import TestSupport
import Testing

struct ChaosStage: Sendable {
    let cluster: TestCluster
    let nodes: RestartableNodes
    /// Each node's proxies: to PostgreSQL for statements and for listening, and from some clients to the node.
    private let pools: [Proxy]
    private let listeners: [Proxy]
    private let fronts: [Proxy]
    private let pages: LargePages
    private let pollPath: String

    static let nodeCount = 3

    static func build(on cluster: TestCluster) async throws -> ChaosStage {
        let database = try await cluster.createDatabase()
        let pools = try (0..<nodeCount).map { _ in try cluster.proxy() }
        let listeners = try (0..<nodeCount).map { _ in try cluster.proxy() }
        let nodes = try await RestartableNodes.start(
            zip(pools, listeners).map { pool, listener in
                let settings = [
                    "PARLEY_LISTEN_URL": TestCluster.conninfo(database, through: listener), "PARLEY_DRAIN_SECONDS": "1",
                ]
                return RestartableNodes.Place(
                    database: TestCluster.conninfo(database, through: pool), settings: settings)
            })
        let connection = Connection(nodes.addresses[0])
        let pages = try await LargePages.write(at: connection)
        let cursor = try await connection.cursor(of: pages.person)
        return ChaosStage(
            cluster: cluster, nodes: nodes, pools: pools, listeners: listeners,
            fronts: try nodes.addresses.map { try Proxy(to: .tcp($0.port)) }, pages: pages,
            pollPath: "/v1/sync?cursor=\(cursor)&wait=25")
    }

    /// A lane has one fault at a time. Faults of different lanes overlap as planned.
    private enum Lane: Hashable {
        case node(Int)
        case database
        case network
        case clients
    }

    private func lanes(of step: ChaosStep) -> [Lane] {
        switch step.fault {
        case .nodeKilled, .nodeStopped: [.node(step.node)]
        case .rollingRestart: (0..<Self.nodeCount).map(Lane.node)
        case .databaseKilled, .sessionKilled: [.database]
        case .listenerCut, .poolCut: [.network]
        case .clientsVanish, .slowReaders: [.clients]
        }
    }

    /// Runs the plan until the deadline, then waits until every node is ready again.
    func run(_ plan: ChaosPlan, until deadline: ContinuousClock.Instant, _ tally: ChaosTally) async throws {
        var busy: [Lane: Task<Void, any Error>] = [:]
        defer { busy.values.forEach { $0.cancel() } }
        for step in plan {
            for lane in lanes(of: step) { try await busy[lane]?.value }
            guard ContinuousClock.now < deadline else { break }
            tally.count(step.fault)
            let work = Task { try await perform(step) }
            for lane in lanes(of: step) { busy[lane] = work }
            try await Task.sleep(for: step.pause)
        }
        for work in busy.values { try await work.value }
        // A half-open pool is detected after 20 s.
        try await nodes.waitUntil(ready: true, within: .seconds(60))
    }

    private func perform(_ step: ChaosStep) async throws {
        switch step.fault {
        case .nodeKilled:
            try await nodes.kill(step.node)
            try await Task.sleep(for: step.length)
            try await nodes.restart(step.node, within: .seconds(60))
        case .nodeStopped:
            try await nodes[step.node].whileStopped { try await Task.sleep(for: step.length) }
        case .rollingRestart:
            for node in 0..<Self.nodeCount {
                try await nodes.stop(node)
                try await nodes.restart(node, within: .seconds(60))
            }
        case .databaseKilled:
            try await cluster.crash(away: step.length)
        case .sessionKilled:
            _ = try await cluster.killSession()
        case .listenerCut:
            strand(listeners[step.node])
        case .poolCut:
            strand(pools[step.node])
        case .clientsVanish:
            try await clientsVanish(from: step.node, after: step.length)
        case .slowReaders:
            try await slowReaders(of: step.node, for: step.length)
        }
    }

    /// Resets connections stranded by an earlier cut: PostgreSQL's sessions are limited.
    private func strand(_ proxy: Proxy) {
        proxy.bury()
        proxy.strand()
    }

    private func clientsVanish(from node: Int, after length: Duration) async throws {
        fronts[node].bury()
        guard
            let clients = silentClients({
                try SilentClients(50, to: fronts[node].port, asking: pollPath, as: pages.person)
            })
        else { return }
        defer { clients.close() }
        try await Task.sleep(for: length)
        fronts[node].strand()
    }

    private func slowReaders(of node: Int, for length: Duration) async throws {
        guard let clients = silentClients({ try pages.slowReaders(20, of: nodes.addresses[node]) }) else { return }
        defer { clients.close() }
        try await Task.sleep(for: length)
    }

    /// Nil while the node is down: then these clients have no effect.
    private func silentClients(_ make: () throws -> SilentClients) -> SilentClients? { try? make() }
}
