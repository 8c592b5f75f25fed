// Numbers that PostgreSQL's json type keeps and its jsonb type cannot hold.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Numbers in payloads")
    struct PayloadNumbers {
        @Test("a number that PostgreSQL cannot represent is refused, in sends and in edits")
        func refused() async throws {
            let curl = try await TestNodes.shared().a.curl
            let ann = try await curl.register("Ann")
            let thread = try await curl.thread("group", by: ann, with: [])
            let message = try await curl.sent("hi", in: thread, as: ann)
            for number in ["1e-16384", "1e-20000", "0e-20000", "1e400"] {
                let body = #"{"payload":{"text":"hi","n":\#(number)}}"#
                for (method, path) in [("POST", "messages"), ("PATCH", "messages/\(message)")] {
                    var request = Request(method, "/v1/threads/\(thread)/\(path)")
                    request.headers = [("Authorization", "Bearer \(ann.token)"), ("Content-Type", "application/json")]
                    request.body = Data(body.utf8)
                    let answer = try await curl.send(request)
                    #expect(answer.status == 422, "\(number): \(answer)")
                    #expect(answer.json["errors"].items.first?["field"] == "payload.n", "\(answer)")
                }
            }
        }

        @Test("a stored payload with such a number does not break its thread")
        func oldMessages() async throws {
            let nodes = try await TestNodes.shared()
            let curl = nodes.a.curl
            let ann = try await curl.register("Ann")
            let room = try await curl.thread("room", by: ann, with: [])
            let group = try await curl.thread("group", by: ann, with: [])
            let title = try await curl.get("/v1/threads/\(room)", as: ann).json["title"]
            for thread in [room, group] {
                let message = try await curl.sent("hi", in: thread, as: ann)
                try await Psql.run(
                    #"update messages set payload = '{"text":"hi","n":1e-20000}' where id = '\#(message)'"#,
                    conninfo: nodes.database)
            }
            let (ben, cid, dan) = (
                try await curl.register("Ben"), try await curl.register("Cid"), try await curl.register("Dan")
            )
            #expect(try await curl.post("/v1/rooms", ["title": title], as: ben).status == 200)
            #expect(
                try await curl.put("/v1/threads/\(room)/members/me", ["status": "joined"], as: cid).status == 200)
            #expect(try await curl.put("/v1/threads/\(group)/members/\(ben.id)", [:], as: ann).status == 200)
            let invited = "/v1/threads/\(group)/members/"
            #expect(try await curl.put(invited + dan.id, ["status": "invited"], as: ann).status == 200)
            #expect(try await curl.put(invited + "me", ["status": "joined"], as: dan).status == 200)
        }
    }
}
