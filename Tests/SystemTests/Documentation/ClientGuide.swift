// What docs/client-guide.md shows beside its shell examples (PageExamples).

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("The client guide", .timeLimit(.minutes(1)))
    struct ClientGuide {
        @Test("shows the answer to an expired cursor as it is")
        func expiredCursor() async throws {
            let blocks = try Document("docs/client-guide.md").markedBlocks
            let example = try #require(blocks.first { $0.marker == "example: cursor expired" })
            // A cursor from a longer log: clients have one after the server was restored from a backup.
            let nodes = try await TestNodes.shared()
            let ann = try await nodes.a.client.register("Ann")
            let noisy = try await nodes.a.client.thread("group", by: ann, with: [])
            for number in 0..<5 { _ = try await nodes.a.client.sent("\(number)", in: noisy, as: ann) }
            let ahead = try await nodes.a.client.cursor(of: ann)
            let restored = try await TestNodes.own(on: try await TestCluster.shared())
            let ben = try await restored.a.client.register("Ben")
            let thread = try await restored.a.client.thread("group", by: ben, with: [])
            _ = try await restored.a.client.sent("hi", in: thread, as: ben)
            let answer = try await restored.a.client.sync(ben, from: ahead)
            #expect(answer.status == 410)
            let shown = try JSON(parsing: Data(example.code.utf8))
            #expect(shown.differences(from: answer.json) == [])
            #expect(shown["detail"] == answer.json["detail"])
            // The guide's order: load the inbox again, then continue from its cursor.
            let inbox = try await restored.b.client.get("/v1/inbox", as: ben).json
            #expect(inbox["threads"].items.map { $0["id"].string } == [thread])
            let cursor = try #require(inbox["cursor"].string)
            let last = try await restored.a.client.sent("again", in: thread, as: ben)
            let events = try await restored.b.client.syncUntilTold(ben, from: cursor, wait: 5).told
            #expect(events.map { $0["data"]["id"].string } == [last])
            try await restored.stop()
        }
    }
}
