// Many sessions of one account.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Many sessions of one account", .timeLimit(.minutes(5)))
    struct ManySessions {
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
