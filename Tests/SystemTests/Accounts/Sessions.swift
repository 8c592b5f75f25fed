// Signing out several devices at once, and sessions that expire unused.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Sessions on two nodes", .timeLimit(.minutes(3)))
    struct Sessions {
        let nodes: TestNodes
        let ann: Person

        init() async throws {
            nodes = try await TestNodes.shared()
            ann = try await nodes.a.client.register("Ann")
        }

        @Test("signing all other devices out ends their polls, streams and tokens on the other node")
        func signsOutOthers() async throws {
            let (phone, tablet) = (
                try await nodes.b.client.logIn(again: ann), try await nodes.b.client.logIn(again: ann)
            )
            let cursor = try await nodes.b.client.cursor(of: phone)
            let stream = try await EventSource(Connection(nodes.b.address), as: tablet, from: cursor)
            async let poll = nodes.b.client.sync(phone, from: cursor, wait: 25)
            try await nodes.b.waitForPolls(2)
            let (here, there) = (Connection(nodes.a.address), Connection(nodes.b.address))
            #expect(try await here.delete("/v1/sessions", as: ann).status == 204)
            let answer = try await poll
            #expect(answer.status == 401 || answer.json["events"][0]["type"] == "session.revoked", "\(answer)")
            while try await stream.next() != nil {}
            for device in [phone, tablet] {
                #expect(try await there.get("/v1/users/me", as: device).status == 401)
            }
            #expect(try await there.get("/v1/users/me", as: ann).status == 200)
        }

        @Test("a session unused for 90 days is ended by the node that finds it first, and its devices are notified")
        func endsUnused() async throws {
            let old = try await nodes.a.client.logIn(again: ann)
            let cursor = try await nodes.b.client.cursor(of: ann)
            _ = try await Psql.run(
                "update sessions set last_used_at = now() - interval '91 days' where id = '\(old.session)'",
                conninfo: nodes.database)
            #expect(try await nodes.a.client.get("/v1/users/me", as: old).status == 401)
            let told = try await nodes.b.client.sync(ann, from: cursor, wait: 15).json["events"][0]
            #expect(told["type"] == "session.revoked")
            #expect(told["data"]["session_id"].string == old.session)
            let left = try await nodes.a.client.get("/v1/sessions", as: ann).json["sessions"].items
            #expect(left.map { $0["id"].string } == [ann.session])
        }

        @Test("refusing an unknown name takes as long as refusing a wrong password, within a fifth")
        func takesAsLong() async throws {
            let connection = Connection(nodes.a.address)
            let times = try await PairedTimes(15) { isKnown, index in
                let body: JSON = [
                    "username": .string(isKnown ? ann.username : "nobody\(index)"), "password": "wrong password",
                ]
                let answer = try await connection.post("/v1/auth/login", body)
                #expect(answer.code == "wrong_credentials")
            }
            #expect((0.8...1.25).contains(times.ratio), "\(times)")
        }
    }
}
