// PARLEY_RETENTION_MAX and PARLEY_RETENTION_DEFAULT on running nodes.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("The longest retention of the service, on two nodes", .timeLimit(.minutes(3)))
    struct LongestRetention {
        @Test("is that of new threads, refuses longer ones, and clears threads that had none")
        func limits() async throws {
            let refused = try await Parley.run(
                ["serve"], settings: ["PARLEY_RETENTION_MAX": "60", "PARLEY_RETENTION_DEFAULT": "61"])
            #expect(refused.exit == .status(2) && refused.errors.contains("PARLEY_RETENTION_DEFAULT"), "\(refused)")
            let nodes = try await TestNodes.own(
                on: try await TestCluster.shared(),
                settings: ["PARLEY_RETENTION_MAX": "3", "PARLEY_RETENTION_DEFAULT": "2"])
            let ann = try await nodes.a.client.register("Ann")
            let thread = try await nodes.a.client.thread("group", by: ann, with: [])
            let shown = try await nodes.b.client.get("/v1/threads/\(thread)", as: ann).json
            #expect(shown["retention"] == ["keep": "seconds", "seconds": 2])
            for (retention, field) in [
                (["keep": "forever"], "retention.keep"), (["keep": "seconds", "seconds": 4], "retention.seconds"),
            ] as [(JSON, String)] {
                let body: JSON = ["kind": "group", "title": "x", "retention": retention]
                for answer in [
                    try await nodes.a.client.post("/v1/threads", body, as: ann),
                    try await nodes.b.client.call("PATCH", "/v1/threads/\(thread)", ["retention": retention], as: ann),
                ] {
                    #expect(answer.status == 422 && answer.json["errors"][0]["field"].string == field, "\(answer)")
                }
            }
            let longest: JSON = ["keep": "seconds", "seconds": 3]
            let changed = try await nodes.b.client.call(
                "PATCH", "/v1/threads/\(thread)", ["retention": longest], as: ann)
            #expect(changed.status == 200 && changed.json["retention"] == longest)
            // A thread from before the setting.
            _ = try await Psql.run("update threads set keep_s = null", conninfo: nodes.database)
            let message = try await nodes.a.client.sent("soon gone", in: thread, as: ann)
            let path = "/v1/threads/\(thread)/messages/\(message)"
            #expect(try await nodes.b.client.get(path, as: ann).json["payload"]["text"] == "soon gone")
            try await eventually("a tombstone") {
                try await nodes.b.client.get(path, as: ann).json["deleted_at"].string
            }
            try await nodes.stop()
        }
    }
}
