// Numbers that PostgreSQL's json type keeps and its jsonb type cannot hold.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Numbers in payloads", .timeLimit(.minutes(2)))
    struct PayloadNumbers {
        @Test("a number that PostgreSQL cannot represent is refused, in sends and in edits")
        func refused() async throws {
            let client = try await TestNodes.shared().a.client
            let ann = try await client.register("Ann")
            let thread = try await client.thread("group", by: ann, with: [])
            let message = try await client.sent("hi", in: thread, as: ann)
            for number in ["1e-16384", "1e-20000", "0e-20000", "1e400"] {
                let body = #"{"payload":{"text":"hi","n":\#(number)}}"#
                for (method, path) in [("POST", "messages"), ("PATCH", "messages/\(message)")] {
                    var request = Request(method, "/v1/threads/\(thread)/\(path)")
                    request.headers = [("Authorization", "Bearer \(ann.token)"), ("Content-Type", "application/json")]
                    request.body = Data(body.utf8)
                    let answer = try await client.send(request)
                    #expect(answer.status == 422, "\(number): \(answer)")
                    #expect(answer.json["errors"].items.first?["field"] == "payload.n", "\(answer)")
                }
            }
        }

        @Test("a stored payload with such a number does not break its thread")
        func oldMessages() async throws {
            let nodes = try await TestNodes.shared()
            let client = nodes.a.client
            let ann = try await client.register("Ann")
            let room = try await client.thread("room", by: ann, with: [])
            let group = try await client.thread("group", by: ann, with: [])
            let title = try await client.get("/v1/threads/\(room)", as: ann).json["title"]
            for thread in [room, group] {
                let message = try await client.sent("hi", in: thread, as: ann)
                try await Psql.run(
                    #"update messages set payload = '{"text":"hi","n":1e-20000}' where id = '\#(message)'"#,
                    conninfo: nodes.database)
            }
            let (ben, cid, dan) = (
                try await client.register("Ben"), try await client.register("Cid"), try await client.register("Dan")
            )
            #expect(try await client.post("/v1/rooms", ["title": title], as: ben).status == 200)
            #expect(
                try await client.put("/v1/threads/\(room)/members/me", ["status": "joined"], as: cid).status == 200)
            #expect(try await client.put("/v1/threads/\(group)/members/\(ben.id)", [:], as: ann).status == 200)
            let invited = "/v1/threads/\(group)/members/"
            #expect(try await client.put(invited + dan.id, ["status": "invited"], as: ann).status == 200)
            #expect(try await client.put(invited + "me", ["status": "joined"], as: dan).status == 200)
        }
    }
}
