// Exporting everything stored about an account.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Exporting an account", .timeLimit(.minutes(3)))
    struct ExportingAccounts {
        private func lines(_ answer: Answer) throws -> [JSON] {
            try #require(answer.status == 200, "\(answer)")
            return try answer.text.split(separator: "\n").map { try JSON(parsing: Data($0.utf8)) }
        }

        @Test("returns a line for everything stored about the caller, no secrets, and nothing about others")
        func isWhole() async throws {
            let nodes = try await TestNodes.shared()
            let (a, b) = (nodes.a.client, nodes.b.client)
            let ann = try await a.register("Ann")
            let bob = try await b.register("Bob")
            _ = try await b.logIn(again: ann)
            let group = try await a.thread("group", by: ann, with: [bob])
            let direct = try await b.thread("direct", by: bob, with: [ann])
            let own = "/v1/threads/\(group)/messages/\(try await a.sent("mine", in: group, as: ann))"
            for text in ["mine 2", "mine 3"] {
                #expect(try await a.call("PATCH", own, ["payload": ["text": .string(text)]], as: ann).status == 200)
            }
            let other = "/v1/threads/\(direct)/messages/\(try await b.sent("theirs", in: direct, as: bob))"
            for emoji in ["%F0%9F%91%8D", "%F0%9F%8E%89"] {
                #expect(try await a.call("PUT", "\(other)/reactions/\(emoji)", as: ann).status == 204)
            }
            #expect(try await a.put("/v1/threads/\(direct)/receipts", ["read": 1], as: ann).status == 204)
            #expect(try await a.call("DELETE", "\(other)?for=me", as: ann).status == 204)
            #expect(try await a.put("/v1/users/me/blocks/\(bob.id)", [:], as: ann).status == 204)
            let settings = try await a.call("PATCH", "/v1/threads/\(group)/settings", ["pinned": true], as: ann)
            #expect(settings.status == 200)

            let endpoint = "https://push.example.org/\(ann.id)"
            let target: JSON = [
                "platform": "webpush", "endpoint": .string(endpoint),
                "keys": ["p256dh": .string(TestBrowser().keyText), "auth": "AAAAAAAAAAAAAAAAAAAAAA"],
            ]
            #expect(try await a.put("/v1/sessions/current/push", target, as: ann).status == 200)

            let answer = try await b.get("/v1/users/me/export", as: ann)
            #expect(answer.headers["content-type"] == "application/x-ndjson")
            let lines = try lines(answer)
            func data(_ type: String) -> [JSON] { lines.filter { $0["type"].string == type }.map { $0["data"] } }
            #expect(data("account").map { $0["username"].string } == [ann.username])
            #expect(data("account").first?["has_password"] == true)
            #expect(data("session").count == 2)
            #expect(data("session").compactMap { $0["push"]["token"].string } == [endpoint])
            #expect(data("block").map { $0["user_id"].string } == [bob.id])
            #expect(Set(data("thread").map { $0["id"].string }) == [group, direct])
            #expect(data("thread").first { $0["id"].string == group }?["me"]["pinned"] == true)
            #expect(data("message").map { $0["payload"]["text"] } == ["mine 3"])
            #expect(data("message_version").map { $0["payload"]["text"] } == ["mine", "mine 2"])
            #expect(data("reaction").map { Set($0["emojis"].items) } == [["👍", "🎉"]])
            #expect(data("receipt").contains { $0["kind"] == "read" && $0["thread_id"].string == direct })
            #expect(data("hidden_message").map { $0["seq"] } == [1])
            #expect(lines.last == ["type": "end", "data": ["lines": JSON(lines.count - 1)]])
            for secret in [ann.token, ann.password, "scrypt", "theirs", bob.username] {
                #expect(!answer.text.contains(secret), "\(secret)")
            }
            #expect(try await a.get("/v1/users/me/export").status == 401)
            #expect(try await a.get("/v1/users/me/export?x=1", as: ann).status == 422)
        }

        @Test("of a large account needs no more memory than of a small one, even if the client stops reading")
        func isBounded() async throws {
            let database = try await MigratedDatabase.create()
            let node = try await Node.start(database: database)
            let ann = try await node.client.register("Ann")
            let thread = try await node.client.thread("group", by: ann, with: [])
            let count = 24_000
            try await fill(
                thread, by: ann.id, with: String(repeating: "x", count: 2_000), count: count, in: database)
            func memory() async throws -> Double {
                try #require(try await node.metric("process_resident_memory_bytes"))
            }
            var request = Request("GET", "/v1/users/me/export")
            request.headers = [("Authorization", "Bearer \(ann.token)")]
            let before = try await memory()
            let idle = Connection(node.address)
            #expect(try await idle.open(request).status == 200)
            // 50 MB. The node has had enough time to prepare as much of it as it ever does.
            var most = try await memory()
            let answer = try await node.client.get("/v1/users/me/export", as: ann, within: .seconds(60))
            most = max(most, try await memory())
            let byteCount = answer.body.count
            #expect(byteCount > count * 2_000)
            let end = "\(answer.text.suffix(80))"
            #expect(end.hasSuffix("{\"type\":\"end\",\"data\":{\"lines\":\(count + 3)}}\n"))
            // The two are 100 MB.
            #expect(most - before < 40_000_000, "\(before) to \(most)")
            await idle.close()
            try await node.stop()
        }
    }
}
