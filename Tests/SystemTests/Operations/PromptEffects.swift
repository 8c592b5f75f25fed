// How soon a change on one node takes effect on the other. These tests bound times, so they run alone. Other suites show
// the effects themselves, and BehindNginx bounds a sign-out.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Within a second on the other node", .timeLimit(.minutes(2)))
    struct PromptEffects {
        /// What ends the session of Ann's second device.
        enum Ending: CaseIterable {
            case otherSessions, newPassword, suspension, deletion
        }

        let nodes: TestNodes
        let ann: Person

        init() async throws {
            nodes = try await TestNodes.administered()
            ann = try await nodes.a.client.register("Ann")
        }

        private func endSessions(by ending: Ending) async throws -> Answer {
            let client = nodes.a.client
            switch ending {
            case .otherSessions: return try await client.delete("/v1/sessions", as: ann)
            case .newPassword:
                let change: JSON = ["current": .string(ann.password), "new": "correct battery"]
                return try await client.put("/v1/users/me/password", change, as: ann)
            case .suspension:
                return try await client.call("PUT", "/v1/admin/users/\(ann.id)/suspension", as: TestNodes.admin)
            case .deletion: return try await client.delete("/v1/users/me", as: ann)
            }
        }

        @Test("a session that has ended has no poll, no stream and no token", arguments: Ending.allCases)
        func sessions(ending: Ending) async throws {
            let device = try await nodes.b.client.logIn(again: ann)
            let cursor = try await nodes.b.client.cursor(of: device)
            let stream = try await EventSource(Connection(nodes.b.address), as: device, from: cursor)
            async let poll = nodes.b.client.sync(device, from: cursor, wait: 25)
            try await nodes.b.waitForPolls(2)
            #expect(try await endSessions(by: ending).status == 204)
            let ended = ContinuousClock.now
            _ = try await poll
            while try await stream.next() != nil {}
            try await eventually("the token to be refused") {
                try await nodes.b.client.get("/v1/users/me", as: device).status == 401
            }
            #expect(ContinuousClock.now - ended < .seconds(1))
        }

        @Test("a message of the API or of SQL wakes a poll", arguments: [false, true])
        func messages(isFromSQL: Bool) async throws {
            let bob = try await nodes.b.client.register("Bob")
            let thread = try await nodes.a.client.thread("direct", by: ann, with: [bob])
            let cursor = try await nodes.b.client.cursor(of: bob)
            async let poll = nodes.b.client.syncUntilTold(bob, from: cursor, wait: 25)
            try await nodes.b.waitForPolls()
            if isFromSQL {
                try await Psql.run(
                    "select from parley.send('\(ann.id)', '\(thread)', '{\"text\":\"hi\"}')", conninfo: nodes.database)
            } else {
                #expect(try await nodes.a.client.say("hi", in: thread, as: ann).status == 201)
            }
            let sent = ContinuousClock.now
            #expect(try await poll.told.first?["data"]["payload"]["text"] == "hi")
            #expect(ContinuousClock.now - sent < .seconds(1))
        }
    }
}
