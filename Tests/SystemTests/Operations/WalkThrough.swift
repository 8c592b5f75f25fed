// The README's walk-through, run as it is written there.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("The README's walk-through", .timeLimit(.minutes(2)))
    struct WalkThrough {
        /// The fenced block after a marker in the README.
        private func block(_ marker: String) throws -> String {
            let blocks = try Document("README.md").markedBlocks.filter { $0.marker == marker }
            try #require(blocks.count == 1, "the README has one block marked \(marker)")
            return blocks[0].code
        }

        private func run(_ script: String, against node: Node, in directory: TemporaryDirectory) async throws -> String
        {
            let program = try await TestProcess.start(
                ["/bin/bash", "-c", script], environment: ["PARLEY": node.address.description], in: directory.path)
            let exit = try await program.waitForExit(within: .seconds(60))
            #expect(exit == .status(0), "\(program.errors)")
            return String(decoding: program.output, as: UTF8.self)
        }

        @Test("prints what the README shows, before and after a restart")
        func runs() async throws {
            let directory = try TemporaryDirectory()
            let settings = ["PARLEY_DATA_DIR": directory.path + "/data"]
            let first = try await Node.start(database: nil, settings: settings)
            // The variables that the reader's shell still has after the restart.
            let keep = "\n{ declare -p ann ben thread cursor PARLEY; declare -f as field; } > known"
            #expect(
                try await run(try block("walkthrough") + keep, against: first, in: directory)
                    == block("walkthrough prints"))
            // The signal that Ctrl-C sends.
            #expect(try await first.stop(by: SIGINT).exit == .status(0))

            let second = try await Node.start(database: nil, port: first.address.port, settings: settings)
            let after = try await run(
                ". ./known\n" + block("walkthrough after a restart"), against: second, in: directory)
            #expect(try after == block("walkthrough prints after a restart"))
            try await second.stop()
        }
    }
}
