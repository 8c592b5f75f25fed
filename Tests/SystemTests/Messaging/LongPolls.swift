// The long poll, clause by clause of the contract.

import TestSupport
import Testing

extension SystemTests {
    @Suite("The long poll", .timeLimit(.minutes(3)))
    struct LongPolls: DirectThreadSuite {
        let direct: DirectThread

        init() async throws { direct = try await DirectThread() }

        @Test("returns the current cursor at once without a cursor")
        func noCursor() async throws {
            _ = try await say(1)
            // The test waits for less than 50 s.
            let answer = try await nodes.b.client.get("/v1/sync?wait=50", as: bob)
            #expect(answer.status == 200 && answer.json["events"] == [] && answer.json["more"] == false)
            let cursor = try #require(answer.json["cursor"].string)
            #expect(!cursor.isEmpty && cursor.utf8.count <= 2_048)
            #expect(try await nodes.a.client.sync(bob, from: cursor).told.isEmpty)
        }

        @Test("with wait=0 returns the present events at once, or none")
        func noWait() async throws {
            let nothing = try await nodes.a.client.sync(bob, from: start, wait: 0)
            #expect(nothing.status == 200 && nothing.json["events"] == [] && nothing.json["cursor"].string != nil)
            let ids = try await say(2)
            let events = try await nodes.a.client.sync(bob, from: start, wait: 0).json["events"].items
            #expect(events.map { $0["data"]["id"].string } == ids)
        }

        @Test("waits for the time of the parameter or of Prefer, and returns Preference-Applied")
        func waits() async throws {
            let clock = ContinuousClock()
            var began = clock.now
            let plain = try await nodes.a.client.sync(bob, from: start, wait: 1)
            #expect(plain.status == 200 && plain.json["events"] == [])
            #expect((.seconds(0.9)...(.seconds(20))).contains(began.duration(to: clock.now)), "not the usual 25 s")
            began = clock.now
            let preferred = try await nodes.a.client.call(
                "GET", "/v1/sync?cursor=\(start)", as: bob, headers: [("Prefer", "wait=1")])
            #expect((.seconds(0.9)...(.seconds(20))).contains(began.duration(to: clock.now)), "not the usual 25 s")
            #expect(preferred.status == 200 && preferred.json["events"] == [])
            #expect(preferred.headers["preference-applied"] == "wait=1", "\(preferred)")
            #expect(plain.headers["preference-applied"] == nil)
        }

        @Test("returns at most the limit, sets more, and continues without a gap")
        func limit() async throws {
            let ids = try await say(7)
            var cursor = start
            var seen: [String?] = []
            var sizes: [Int] = []
            repeat {
                let node = sizes.count % 2 == 0 ? nodes.a : nodes.b
                let answer = try await node.client.sync(bob, from: cursor, limit: 3)
                let count = answer.json["events"].items.count
                seen += answer.told.map { $0["data"]["id"].string }
                #expect(answer.json["more"] == true || seen.count == 7)
                sizes.append(count)
                cursor = answer.json["cursor"].string ?? ""
                if answer.json["more"] != true { break }
            } while sizes.count < 10
            // Besides the seventh message the last answer may have events that the service sends on its own.
            #expect(sizes.prefix(2) == [3, 3] && sizes.count >= 3)
            #expect(seen == ids)
        }

        @Test("returns the same events for the same cursor, repeatedly and on the other node")
        func repeatable() async throws {
            _ = try await say(5)
            var answers: [JSON] = []
            for node in [nodes.a, nodes.b, nodes.a, nodes.b] {
                answers.append(try await node.client.sync(bob, from: start).json)
            }
            #expect(answers[0]["events"].items.count == 5)
            #expect(Set(answers.map { $0["events"] }).count == 1)
            // An older cursor still works when the mailbox is past it.
            let cursor = answers[0]["cursor"].string ?? ""
            #expect(try await nodes.a.client.sync(bob, from: cursor).told.isEmpty)
            #expect(try await nodes.a.client.sync(bob, from: start).told == answers[0]["events"].items)
        }

        @Test("returns the same event to every member")
        func sameForAll() async throws {
            let ids = try await say(3)
            let anns = try await nodes.a.client.sync(ann, from: start).json["events"]
            let bobs = try await nodes.b.client.sync(bob, from: start).json["events"]
            #expect(anns == bobs && anns.items.map { $0["data"]["id"].string } == ids)
            for event in anns.items {
                #expect(event.keys == ["type", "thread_id", "at", "data"])
                #expect(event["at"].string?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
            }
        }

        @Test("has a Content-Length and is not cached; HEAD returns the same head without a body")
        func headers() async throws {
            let answer = try await nodes.a.client.sync(bob, from: start)
            #expect(answer.headers["content-length"] == "\(answer.body.count)")
            #expect(answer.headers["cache-control"] == "no-store")
            #expect(answer.headers["content-type"]?.hasPrefix("application/json") == true)
            let head = try await nodes.a.client.call("HEAD", "/v1/inbox", as: bob)
            #expect(head.status == 200 && head.body.isEmpty, "\(head)")
            #expect(try await nodes.a.client.call("HEAD", "/v1/inbox").status == 401)
        }

        @Test("is freed when its client disconnects")
        func abandoned() async throws {
            let before = try await nodes.a.metric("parley_polls_waiting") ?? 0
            let connections = (0..<5).map { _ in Connection(nodes.a.address) }
            for connection in connections {
                var request = Request("GET", "/v1/sync?cursor=\(start)&wait=50")
                request.headers = [("Authorization", "Bearer \(bob.token)")]
                try await connection.begin(request)
            }
            try await nodes.a.waitForPolls(Int(before) + 5)
            for connection in connections { await connection.close() }
            try await nodes.a.waitForPolls(Int(before))
        }

        @Test("wakes all devices of a person, on whichever node they wait")
        func allDevices() async throws {
            let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
                for number in 0..<6 {
                    let connection = Connection(nodes.addresses[number % 2])
                    group.addTask { try await connection.sync(bob, from: start, wait: 25) }
                }
                for node in [nodes.a, nodes.b] { try await node.waitForPolls(3) }
                let ids = try await say(1)
                return try await group.reduce(into: []) { $0.append($1) }.map { answer in
                    #expect(answer.json["events"].items.map { $0["data"]["id"].string } == ids)
                    return answer
                }
            }
            #expect(Set(answers.map { $0.json["cursor"] }).count == 1)
        }

        @Test("starts from the inbox's cursor without missing or repeating anything")
        func inboxCursor() async throws {
            let before = try await say(3)
            let inbox = try await nodes.b.client.get("/v1/inbox", as: bob).json
            #expect(inbox["threads"][0]["last_message"]["id"].string == before.last)
            let after = try await say(2)
            let events = try await nodes.a.client.sync(bob, from: inbox["cursor"].string ?? "").told
            #expect(events.map { $0["data"]["id"].string } == after)
        }

        @Test("answers 410 with a fresh cursor for a position that the log does not hold")
        func lostTail() async throws {
            // A cursor of another installation with a longer log: clients have one after a restored backup.
            let other = try await TestNodes.own(on: try await TestCluster.shared())
            let cleo = try await other.a.client.register("Cleo")
            let group = try await other.a.client.thread("group", by: cleo, with: [])
            let youngThread = try await other.b.client.thread("group", by: cleo, with: [])
            _ = try await other.a.client.sent("hi", in: youngThread, as: cleo)
            for number in 0..<3 { _ = try await nodes.a.client.sent("\(number)", in: thread, as: ann) }
            let ahead = try await nodes.a.client.cursor(of: ann)
            let answer = try await other.a.client.sync(cleo, from: ahead)
            #expect(answer.status == 410 && answer.code == "cursor_expired", "\(answer)")
            let heads = Dictionary(
                answer.json["threads"].items.map { ($0["id"].string ?? "", $0["head"].int) }, uniquingKeysWith: { $1 })
            #expect(heads[youngThread] == 1 && (heads[group] == 0 || heads[group] == nil))
            let fresh = try #require(answer.json["cursor"].string)
            #expect(try await other.b.client.sync(cleo, from: fresh).status == 200)
            try await other.stop()
        }

        @Test("returns a group's events from joining to leaving, however late the client asks")
        func membership() async throws {
            let client = nodes.a.client
            let group = try await client.thread("group", by: ann, with: [])
            _ = try await client.sent("before", in: group, as: ann)
            #expect(try await client.put("/v1/threads/\(group)/members/\(bob.id)", [:], as: ann).status < 300)
            let during = try await client.sent("during", in: group, as: ann)
            #expect(try await client.delete("/v1/threads/\(group)/members/\(bob.id)", as: ann).status == 204)
            _ = try await client.sent("after", in: group, as: ann)
            for node in [nodes.a, nodes.b] {
                let events = try await node.client.sync(bob, from: start).json["events"].items.filter {
                    $0["thread_id"].string == group
                }
                let messages = events.filter { $0["type"] == "message.created" }
                #expect(messages.map { $0["data"]["payload"]["action"].string } == ["added", nil])
                #expect(messages.last?["data"]["id"].string == during)
                #expect(events.first?["type"] == "thread.created")
                #expect(events.last?["type"] == "member.updated" && events.last?["data"]["status"] == "removed")
            }
        }
    }
}
