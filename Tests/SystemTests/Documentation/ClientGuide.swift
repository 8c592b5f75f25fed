// The shell examples of docs/client-guide.md, run as they are written there.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("The client guide")
    struct ClientGuide {
        /// The guide's examples in their order: the commands, and the output of each.
        private func examples() throws -> [(script: String, output: String)] {
            var examples: [(script: String, output: String)] = []
            for block in try Document("docs/client-guide.md").markedBlocks {
                switch block.marker {
                case "run": examples.append((block.code, ""))
                case "prints": examples[examples.count - 1].output += block.code
                default: break
                }
            }
            return examples
        }

        @Test("has examples that print the output it shows")
        func runs() async throws {
            let examples = try examples()
            try #require(examples.count >= 7)
            let directory = try TemporaryDirectory()
            let node = try await TestNodes.own(on: try await TestCluster.shared())
            // One shell for all examples, as a reader has it. A separate line ends the output of each.
            let end = "-- end of example --"
            let script = examples.map { $0.script + "\necho '\(end)'\n" }.joined()
            let program = try await TestProcess.start(
                ["/bin/bash", "-c", script], environment: ["PARLEY": node.a.address.description], in: directory.path)
            let exit = try await program.waitForExit(within: .seconds(60))
            #expect(exit == .status(0), "\(program.errors)")
            let outputs = String(decoding: program.output, as: UTF8.self).components(separatedBy: end + "\n").dropLast()
            #expect(Array(outputs) == examples.map(\.output), "\(program.errors)")
            try await node.stop()
        }

        @Test("shows the answer to an expired cursor as it is")
        func expiredCursor() async throws {
            let blocks = try Document("docs/client-guide.md").markedBlocks
            let example = try #require(blocks.first { $0.marker == "example: cursor expired" })
            // A cursor from a longer log: clients have one after the server was restored from a backup.
            let nodes = try await TestNodes.shared()
            let ann = try await nodes.a.curl.register("Ann")
            let noisy = try await nodes.a.curl.thread("group", by: ann, with: [])
            for number in 0..<5 { _ = try await nodes.a.curl.sent("\(number)", in: noisy, as: ann) }
            let ahead = try await nodes.a.curl.cursor(of: ann)
            let restored = try await TestNodes.own(on: try await TestCluster.shared())
            let ben = try await restored.a.curl.register("Ben")
            let thread = try await restored.a.curl.thread("group", by: ben, with: [])
            _ = try await restored.a.curl.sent("hi", in: thread, as: ben)
            let answer = try await restored.a.curl.sync(ben, from: ahead)
            #expect(answer.status == 410)
            let shown = try JSON(parsing: Data(example.code.utf8))
            #expect(shown.differences(from: answer.json) == [])
            #expect(shown["detail"] == answer.json["detail"])
            // The guide's order: load the inbox again, then continue from its cursor.
            let inbox = try await restored.b.curl.get("/v1/inbox", as: ben).json
            #expect(inbox["threads"].items.map { $0["id"].string } == [thread])
            let cursor = try #require(inbox["cursor"].string)
            let last = try await restored.a.curl.sent("again", in: thread, as: ben)
            let events = try await restored.b.curl.syncUntilTold(ben, from: cursor, wait: 5).told
            #expect(events.map { $0["data"]["id"].string } == [last])
            try await restored.stop()
        }
    }
}
