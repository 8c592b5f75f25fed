// Search on two nodes whose index lags behind the log.

import TestSupport
import Testing

extension SystemTests {
    @Suite("Search", .timeLimit(.minutes(3)))
    struct Searching {
        private func found(_ query: String, on node: Node, by person: Person) async throws -> [String?] {
            let answer = try await node.client.get("/v1/search?q=\(query)", as: person)
            try #require(answer.status == 200, "\(answer)")
            return answer.json["results"].items.map { $0["message"]["id"].string }
        }

        @Test(
            "finds on every node what another node acknowledged, before and after indexing, but not once deleted"
        )
        func acrossNodes() async throws {
            let nodes = try await TestNodes.own(on: try await TestCluster.shared())
            let ann = try await nodes.a.client.register("Ann")
            let thread = try await nodes.a.client.thread("group", by: ann, with: [])
            var ids: [String] = []
            for number in 0..<20 {
                ids.insert(try await nodes.a.client.sent("needle \(number)", in: thread, as: ann), at: 0)
                #expect(try await found("needle", on: nodes.b, by: ann) == ids)
            }
            let position = try #require(try await nodes.a.metric("parley_log_position"))
            try await eventually("the index to catch up with the log") {
                let a = try await nodes.a.metric("parley_search_position") ?? 0
                let b = try await nodes.b.metric("parley_search_position") ?? 0
                return max(a, b) >= position
            }
            #expect(try await found("needle", on: nodes.b, by: ann) == ids)
            for id in ids[5...] {
                let path = "/v1/threads/\(thread)/messages/\(id)?for=everyone"
                #expect(try await nodes.b.client.delete(path, as: ann).status == 204)
            }
            #expect(try await found("needle", on: nodes.a, by: ann) == Array(ids[..<5]))
            try await nodes.stop()
        }

        @Test("uses a new text search configuration once set, and a node does not start with an unknown one")
        func configuration() async throws {
            let database = try await MigratedDatabase.create()
            let first = try await Node.start(database: database)
            let ann = try await first.client.register("Ann")
            let thread = try await first.client.thread("group", by: ann, with: [])
            let id = try await first.client.sent("they were running", in: thread, as: ann)
            #expect(try await found("runs", on: first, by: ann) == [])
            try await first.stop()
            let second = try await Node.start(
                database: database, settings: ["PARLEY_SEARCH_CONFIGURATION": "english"])
            #expect(try await found("runs", on: second, by: ann) == [id])
            try await eventually("the index to be rebuilt") {
                try await second.metric("parley_search_indexed_total") ?? 0 > 0
            }
            #expect(try await found("runs", on: second, by: ann) == [id])
            try await second.stop()
            let outcome = try await Parley.run(
                ["serve"], settings: ["PARLEY_DATABASE_URL": database, "PARLEY_SEARCH_CONFIGURATION": "klingon"])
            #expect(outcome.exit == .status(1) && outcome.errors.contains("klingon"), "\(outcome.errors)")
        }
    }
}
