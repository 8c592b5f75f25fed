// The search index next to people who edit and delete.

import TestSupport
import Testing

extension SystemTests {
    @Suite("Search indexing", .timeLimit(.minutes(5)))
    struct SearchIndexing {
        /// 4,096 different words of three letters: the longest text.
        private static let words: String = {
            let letters = Array("abcdefghijklmnop")
            return letters.flatMap { a in letters.flatMap { b in letters.map { c in "\(a)\(b)\(c)" } } }
                .joined(separator: " ")
        }()

        @Test("a sender of messages full of words delays no edit and no deletion of others")
        func editsDoNotWait() async throws {
            let database = try await TestCluster.shared().createDatabase()
            let node = try await Node.start(database: database)
            var others = try await OtherUsers.join(node)
            let eve = try await node.client.register("Eve")
            let flooded = try await node.client.thread("group", by: eve, with: [])
            let attack: @Sendable (Connection, Int) async throws -> Void = { connection, _ in
                // With an app's own type, because search covers `text` in messages of every type.
                let body: JSON = ["type": "x-flood", "payload": ["text": .string(Self.words)]]
                _ = try await connection.post("/v1/threads/\(flooded)/messages", body, as: eve)
            }
            others.act = { others, connection in
                let id = try await connection.sent("to be changed", in: others.thread, as: others.sender)
                let path = "/v1/threads/\(others.thread)/messages/\(id)"
                let change: JSON = ["payload": ["text": "changed"]]
                let edited = try await connection.call("PATCH", path, change, as: others.sender)
                let deleted = try await connection.delete(path, as: others.sender)
                return edited.status == 200 && deleted.status == 204
            }
            let notice = try await others.notice(connectionCount: 2, seconds: 4, attack)
            notice.expect("words for the search index", ratioMax: 20)
            // Messages withdrawn while indexing ran are not in the index once it has caught up.
            let withdrawn = """
                select count(*) from message_words w join messages m using (thread_id, seq) where m.payload is null
                """
            let hasWords = try await Psql.run("select count(*) > 0 from message_words", conninfo: database)
            #expect(hasWords == "t")
            try await eventually("no withdrawn word in the index", within: .seconds(30)) {
                try await Psql.run(withdrawn, conninfo: database) == "0"
            }
            try await node.stop()
        }
    }
}
