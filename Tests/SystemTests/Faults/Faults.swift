// Faults around a node, one in each file. Each is injected under traffic and ends with the same check: every device
// received every event of its threads exactly once, in order, and the histories have no gaps.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Fault injection", .timeLimit(.minutes(Chaos.minutesMax)))
    struct Faults {}
}

/// The statuses that traffic may get while something is broken; 0 stands for no answer.
let answersUnderFaults: Set<Int> = [0, 200, 201, 503]

extension Traffic.Outcome {
    /// Expects no other answers than faults explain, and each message where one node shows it. Stops the nodes.
    func checkDelivery(onAndStop nodes: RestartableNodes, reading index: Int = 0) async throws {
        #expect(answersUnderFaults.isSuperset(of: statuses.keys), "\(statuses)")
        try await checkDelivery(on: nodes[index])
        try await nodes.stopAll()
    }
}

extension Node {
    /// Waits until the node's log has the text more than `count` times.
    func waitUntilLogged(_ text: String, moreOftenThan count: Int = 0, within limit: Duration = .seconds(30))
        async throws
    {
        try await eventually("\"\(text)\" in the log", within: limit, every: .milliseconds(20)) {
            loggedCount(text) > count
        }
    }

    func loggedCount(_ text: String) -> Int {
        program.errors.split(separator: text, omittingEmptySubsequences: false).count - 1
    }
}

extension TestCluster {
    /// Crashes without notifying clients, and starts again after a while.
    func crash(away: Duration = .zero) async throws {
        await stop(.immediate)
        try await Task.sleep(for: away)
        try await start()
    }

    /// Kills a session process of a node with SIGKILL, which ends all sessions; returns false if there is none.
    func killSession() async throws -> Bool {
        guard let pid = try await sessions().first else { return false }
        return kill(pid, SIGKILL) == 0
    }

    /// Returns a breakable network in front of the server.
    func proxy() throws -> Proxy { try Proxy(to: .unix(socket)) }

    /// Returns a connection string that leads through a proxy.
    static func conninfo(_ direct: String, through proxy: Proxy) -> String {
        // `host='…' port=5432 …`: the address is in the first two keywords.
        let rest = direct.split(separator: " ").filter { !$0.hasPrefix("host=") && !$0.hasPrefix("port=") }
        return "host=127.0.0.1 port=\(proxy.port) " + rest.joined(separator: " ")
    }
}
