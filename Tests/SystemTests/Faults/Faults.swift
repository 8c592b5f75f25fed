// Faults around a node, one in each file. Each is injected under traffic and ends with the same check: every device
// received every event of its threads exactly once, in order, and the archives have no gaps.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Fault injection")
    struct Faults {}
}

/// What the traffic may be answered with while something is broken; 0 is no answer.
let answersUnderFaults: Set<Int> = [0, 200, 201, 503]

extension Node {
    /// Waits until its log says something, once more than `count` times.
    func waitUntilLogged(_ text: String, moreOftenThan count: Int = 0, within limit: Duration) async throws {
        try await eventually("\"\(text)\" in the log", within: limit, every: .milliseconds(20)) {
            loggedCount(text) > count ? true : nil
        }
    }

    func loggedCount(_ text: String) -> Int {
        program.errors.split(separator: text, omittingEmptySubsequences: false).count - 1
    }
}

extension TestCluster {
    /// Goes down without a word to anyone, and comes back after a while.
    func crash(away: Duration = .zero) async throws {
        await stop(.immediate)
        try await Task.sleep(for: away)
        try await start()
    }

    /// kill -9 of a process that serves a node, which takes all others along; false if there is none.
    func killSession() async throws -> Bool {
        guard let pid = try await sessions().first else { return false }
        return kill(pid, SIGKILL) == 0
    }

    /// A network in front of it.
    func proxy() throws -> Proxy { try Proxy(to: .unix(socket)) }

    /// The way through a proxy to a database of it.
    static func conninfo(_ direct: String, through proxy: Proxy) -> String {
        // `host='…' port=5432 …`: what comes after the port says nothing of the place.
        let rest = direct.split(separator: " ").filter { !$0.hasPrefix("host=") && !$0.hasPrefix("port=") }
        return "host=127.0.0.1 port=\(proxy.port) " + rest.joined(separator: " ")
    }
}
