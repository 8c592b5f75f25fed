// The first message of the README and the walk-through, run as they are written there.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("The README and the walk-through", .timeLimit(.minutes(2)))
    struct WalkThrough {
        /// The fenced block after a marker of the page.
        private func block(_ marker: String, in page: String = "docs/walkthrough.md") throws -> String {
            let blocks = try Document(page).markedBlocks.filter { $0.marker == marker }
            try #require(blocks.count == 1, "\(page) has one block marked \(marker)")
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

        @Test("print what they show, before and after a restart")
        func runs() async throws {
            let directory = try TemporaryDirectory()
            let settings = ["PARLEY_DATA_DIR": directory.path + "/data"]
            let first = try await Node.start(database: nil, settings: settings)
            let sent = try await run(try block("first message", in: "README.md"), against: first, in: directory)
            #expect(sent.matches(of: /"text":"Hello, kitchen"/).count == 2, "the message, and the inbox with it")
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
