// Logged requests: failed ones and slow ones, by the request id of their answers.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("The request log", .timeLimit(.minutes(2)))
    struct RequestLog {
        /// The lines of a JSON log, each whole.
        private func lines(_ node: Node) throws -> [JSON] {
            try node.program.errors.split(separator: "\n").map { try JSON(parsing: Data($0.utf8)) }
        }

        private func line(_ number: String?, _ node: Node) async throws -> JSON {
            try await eventually("a line about request \(number ?? "none")") {
                try lines(node).first {
                    $0["message"] == "request answered" && number != nil && $0["metadata"]["request"].string == number
                }
            }
        }

        @Test("has a line for a request that fails without a database, and none for client errors")
        func failures() async throws {
            let cluster = try await StoppableCluster.running()
            let node = try await Node.start(
                database: try await cluster.createDatabase(), settings: ["PARLEY_LOG_FORMAT": "json"])
            let ann = try await node.client.register("Ann")
            #expect(try await node.client.get("/v1/threads/\(newID())", as: ann).status == 404)
            await cluster.stop(.immediate)
            let failed = try await node.client.get("/v1/inbox", as: ann)
            #expect(failed.status == 503)
            let line = try await line(failed.headers["x-request-id"], node)
            #expect(line["level"] == "warning" && line["metadata"]["operation"] == "getInbox", "\(line)")
            #expect(line["metadata"]["status"] == "503" && line["metadata"]["took_ms"].string != nil, "\(line)")
            #expect(try !lines(node).contains { $0["metadata"]["status"] == "404" })
            #expect(!node.program.errors.contains(ann.token) && !node.program.errors.contains(ann.id))
        }

        @Test("has a line for each request slower than the setting, except waiting polls")
        func slow() async throws {
            let node = try await Node.start(
                database: try await TestCluster.shared().createDatabase(),
                settings: [
                    "PARLEY_LOG_FORMAT": "json", "PARLEY_SLOW_REQUEST_MS": "20", "PARLEY_PASSWORD_COST": "16",
                ])
            // Hashing a password is slow.
            let ann = try await node.client.register("Ann")
            try await eventually("a slow request's line") {
                try lines(node).first { $0["metadata"]["operation"] == "register" }
            }
            // With a cursor from another call: a `sync` without a cursor is answered at once, and could be slow.
            let cursor = try #require(try await node.client.get("/v1/inbox", as: ann).json["cursor"].string)
            let answer = try await node.client.sync(ann, from: cursor, wait: 1)
            #expect(answer.status == 200)
            #expect(try !lines(node).contains { $0["metadata"]["operation"] == "sync" })
            try await node.stop()
        }
    }
}
