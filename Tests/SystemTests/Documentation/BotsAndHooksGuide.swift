// The shell examples of docs/bots-and-hooks.md, legal-hold.md and moderation.md, run as they are written there.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("The pages on bots, hooks, legal hold and moderation")
    struct BotsAndHooksGuide {
        private static let adminToken = "admin-of-the-guide"

        /// The examples of a page in their order: the commands, and the output of each.
        private func examples(of page: String) throws -> [(script: String, output: String)] {
            var examples: [(script: String, output: String)] = []
            for block in try Document(page).markedBlocks {
                switch block.marker {
                case "run": examples.append((block.code, ""))
                case "prints": examples[examples.count - 1].output += block.code
                default: break
                }
            }
            return examples
        }

        @Test(
            "have examples that print the output they show",
            arguments: ["docs/bots-and-hooks.md", "docs/legal-hold.md", "docs/moderation.md"])
        func runs(_ page: String) async throws {
            let examples = try examples(of: page)
            try #require(examples.count >= 3)
            let directory = try TemporaryDirectory()
            let nodes = try await TestNodes.own(
                on: try await TestCluster.shared(), settings: ["PARLEY_ADMIN_TOKEN": Self.adminToken])
            // One shell for all examples, as a reader has it. A separate line ends the output of each.
            let end = "-- end of example --"
            let script = examples.map { $0.script + "\necho '\(end)'\n" }.joined()
            let program = try await TestProcess.start(
                ["/bin/bash", "-c", script],
                environment: ["PARLEY": nodes.a.address.description, "ADMIN": Self.adminToken], in: directory.path)
            let exit = try await program.waitForExit(within: .seconds(60))
            #expect(exit == .status(0), "\(program.errors)")
            let outputs = String(decoding: program.output, as: UTF8.self).components(separatedBy: end + "\n").dropLast()
            #expect(Array(outputs) == examples.map(\.output), "\(program.errors)")
            try await nodes.stop()
        }
    }
}
