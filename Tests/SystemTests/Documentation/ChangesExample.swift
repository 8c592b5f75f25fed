// The example of docs/changes.md, run as it is written there.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("The example of docs/changes.md")
    struct ChangesExample {
        private func block(_ marker: String) throws -> String {
            let blocks = try Document("docs/changes.md").markedBlocks.filter { $0.marker == marker }
            try #require(blocks.count == 1, "the page has one block marked \(marker)")
            return blocks[0].code
        }

        @Test("prints what the page shows")
        func runs() async throws {
            let admin = "admin-of-the-example"
            let node = try await Node.start(
                database: try await TestCluster.shared().createDatabase(), settings: ["PARLEY_ADMIN_TOKEN": admin])
            let program = try await TestProcess.start(
                ["/bin/bash", "-c", try block("changes")],
                environment: ["PARLEY": node.address.description, "ADMIN": admin])
            let exit = try await program.waitForExit(within: .seconds(60))
            #expect(exit == .status(0), "\(program.errors)")
            #expect(String(decoding: program.output, as: UTF8.self) == (try block("changes prints")))
            try await node.stop()
        }
    }
}
