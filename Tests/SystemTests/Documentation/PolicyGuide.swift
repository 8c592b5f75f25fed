// The shell examples of docs/policy.md, run as they are written there.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("The page on the policy")
    struct PolicyGuide {
        private static let adminToken = "admin-of-the-guide"

        @Test("has examples that print the output they show")
        func runs() async throws {
            var examples: [(script: String, output: String)] = []
            for block in try Document("docs/policy.md").markedBlocks {
                switch block.marker {
                case "run": examples.append((block.code, ""))
                case "prints": examples[examples.count - 1].output += block.code
                default: break
                }
            }
            try #require(examples.count == 3)
            let directory = try TemporaryDirectory()
            let port = try Sockets.freePort()
            let database = try await TestCluster.shared().createDatabase()
            let node = try await Node.start(
                database: database,
                settings: [
                    "PARLEY_ADMIN_TOKEN": Self.adminToken, "PARLEY_POLICY_URL": "http://127.0.0.1:\(port)/",
                    // The machines of CI are shared.
                    "PARLEY_POLICY_TIMEOUT_MS": "5000",
                ])
            // One shell for all examples, as a reader has it. A separate line ends the output of each.
            let end = "-- end of example --"
            let script =
                "trap 'kill $policy 2>/dev/null' EXIT\n"
                + examples.map { $0.script + "\necho '\(end)'\n" }.joined()
            let program = try await TestProcess.start(
                ["/bin/bash", "-c", script],
                environment: [
                    "PARLEY": node.address.description, "ADMIN": Self.adminToken, "POLICY_PORT": "\(port)",
                ], in: directory.path)
            let exit = try await program.waitForExit(within: .seconds(60))
            #expect(exit == .status(0), "\(program.errors)")
            let outputs = String(decoding: program.output, as: UTF8.self).components(separatedBy: end + "\n").dropLast()
            #expect(Array(outputs) == examples.map(\.output), "\(program.errors)")
            try await node.stop()
        }
    }
}
