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
    }
}
