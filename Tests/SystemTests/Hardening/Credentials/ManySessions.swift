// Many sessions of one account.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Many sessions of one account", .timeLimit(.minutes(5)))
    struct ManySessions {
        @Test(
            "are at most 100: each further one ends the least recently used one, on both nodes"
        )
        func delegated() async throws {
            let directory = try TemporaryDirectory()
            let path = directory.path + "/jwks.json"
            let app = try HostApp(.hs256)
            try Data(HostApp.keySet(app.key()).utf8).write(to: URL(filePath: path), options: .atomic)
            let nodes = try await TestNodes.own(
                on: try await TestCluster.shared(), settings: ["PARLEY_JWT_KEYS": path])
            let token = try app.token(of: "user 1")
            func signIn(_ connection: Connection) async throws -> Person {
                let answer = try await connection.post("/v1/auth/login", ["token": .string(token)])
                try #require(answer.status == 200, "\(answer)")
                return Person(
                    id: answer.json["user"]["id"].string ?? "", username: "", password: "",
                    session: answer.json["session"]["id"].string ?? "",
                    token: answer.json["session"]["token"].string ?? "")
            }
            let first = try await signIn(Connection(nodes.a.address))
            let push: JSON = ["platform": "fcm", "token": "abc"]
            #expect(try await nodes.a.client.put("/v1/sessions/current/push", push, as: first).status == 200)
            let second = try await signIn(Connection(nodes.a.address))
            let cursor = try await nodes.b.client.cursor(of: first)
            async let poll = nodes.b.client.sync(first, from: cursor, wait: 25)
            try await nodes.b.waitForPolls()

            // 130 in all, from both nodes at once.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<8 {
                    group.addTask {
                        let connection = Connection(nodes.addresses[lane % 2])
                        for _ in 0..<16 { _ = try await signIn(connection) }
                    }
                }
                try await group.waitForAll()
            }
            let sessions = "select count(*) from sessions"
            #expect(try await Psql.run(sessions, conninfo: nodes.database) == "100")
            #expect(try await Psql.run("select count(*) from push_targets", conninfo: nodes.database) == "0")
            let answer = try await poll
            #expect(answer.status == 401 || answer.json["events"][0]["type"] == "session.revoked", "\(answer)")
            for node in [nodes.a, nodes.b] {
                for device in [first, second] {
                    try await eventually("all nodes to refuse the token", within: .seconds(2)) {
                        try await node.client.get("/v1/users/me", as: device).status == 401 ? true : nil
                    }
                }
            }
            try await nodes.stop()
        }

        @Test(
            "can be signed out together even if there are 100,000, and cost reads of the account nothing"
        )
        func fromBefore() async throws {
            let database = try await TestCluster.shared().createDatabase()
            let node = try await Node.start(database: database)
            let ann = try await node.client.register("Ann")
            let other = try await node.client.logIn(again: ann)
            let ben = try await node.client.register("Ben")
            _ = try await node.client.thread("direct", by: ben, with: [ann])
            let connection = Connection(node.address)
            func profileMs() async throws -> Double {
                var times: [Double] = []
                for _ in 0..<21 {
                    let began = ContinuousClock.now
                    #expect(try await connection.get("/v1/users/\(ann.id)", as: ben).status == 200)
                    times.append(began.duration(to: .now).seconds * 1_000)
                }
                return times.sorted()[10]
            }
            let before = try await profileMs()
            _ = try await Psql.run(
                """
                insert into sessions (id, user_id, token_digest, created_at, last_used_at)
                select gen_random_uuid(), '\(ann.id)', sha256(n::text::bytea), now(), now() - n * interval '1 s'
                from generate_series(1, 100000) n; analyze sessions;
                """, conninfo: database)
            let after = try await profileMs()
            print("attack: a profile with 100,000 sessions: \(before) ms before, \(after) ms after")
            #expect(after < 4 * max(1, before))

            // 204 means that none is left; after 503 another call continues.
            var answers: [Int] = []
            repeat {
                let began = ContinuousClock.now
                let answer = try await connection.call("DELETE", "/v1/sessions", as: ann, within: .seconds(30))
                answers.append(answer.status)
                print("attack: signing 100,000 sessions out: \(answer.status) after \(began.duration(to: .now))")
                let left = try await Psql.run(
                    "select count(*) from sessions where user_id = '\(ann.id)'", conninfo: database)
                #expect((answer.status == 204) == (left == "1"), "\(answer) \(left)")
            } while answers.last == 503 && answers.count < 10
            #expect(answers.last == 204)
            #expect(try await connection.get("/v1/users/me", as: other).status == 401)
            #expect(try await connection.get("/v1/users/me", as: ann).status == 200)
            try await node.stop()
        }
    }
}
