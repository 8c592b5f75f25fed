// The shell examples of docs/commands.md, run as they are written there.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("The guide to commands")
    struct CommandGuide {
        @Test("has examples that print the output it shows", .enabled(if: WebhookSink.canVerify))
        func runs() async throws {
            var examples: [(script: String, output: String)] = []
            for block in try Document("docs/commands.md").markedBlocks {
                switch block.marker {
                case "run": examples.append((block.code, ""))
                case "prints": examples[examples.count - 1].output += block.code
                default: break
                }
            }
            try #require(examples.count == 4)
            let directory = try TemporaryDirectory()
            let database = try await TestCluster.shared().createDatabase()
            let node = try await Node.start(database: database, settings: CommandStage.settings)
            // One shell for all examples, as a reader has it. A separate line ends the output of each.
            let end = "-- end of example --"
            let script =
                "trap 'kill $endpoint 2>/dev/null' EXIT\n"
                + examples.map { $0.script + "\necho '\(end)'\n" }.joined()
            let program = try await TestProcess.start(
                ["/bin/bash", "-c", script],
                environment: [
                    "PARLEY": node.address.description, "ADMIN": CommandStage.token,
                    // pip installs for the user, below the home directory.
                    "HOME": ProcessInfo.processInfo.environment["HOME"] ?? "/root",
                ], in: directory.path)
            let exit = try await program.waitForExit(within: .seconds(60))
            #expect(exit == .status(0), "\(program.errors)")
            let outputs = String(decoding: program.output, as: UTF8.self).components(separatedBy: end + "\n").dropLast()
            #expect(Array(outputs) == examples.map(\.output), "\(program.errors)")
            try await node.stop()
        }
    }
}
