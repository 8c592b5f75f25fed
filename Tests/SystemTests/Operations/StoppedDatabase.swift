// PostgreSQL stops and restarts under running nodes.

import Glibc
import TestSupport
import Testing

extension SystemTests {
    @Suite("When PostgreSQL stops and restarts", .timeLimit(.minutes(5)))
    struct StoppedDatabase {
        @Test("a waiting poll misses nothing")
        func waitingPoll() async throws {
            let cluster = try await StoppableCluster.running()
            let nodes = try await TestNodes.own(on: cluster)
            let ann = try await nodes.a.client.register("Ann")
            let bob = try await nodes.a.client.register("Bob")
            let thread = try await nodes.a.client.thread("direct", by: ann, with: [bob])
            let cursor = try await nodes.b.client.cursor(of: bob)
            async let poll = nodes.b.client.sync(bob, from: cursor, wait: 40)
            try await nodes.b.waitForPolls()

            await cluster.stop(.immediate)
            try await nodes.a.waitUntil(ready: false)
            let id = newID()
            let refused = try await nodes.a.client.say("hi", in: thread, as: ann, id: id)
            #expect(refused.status == 503 && refused.headers["retry-after"] != nil, "\(refused)")
            #expect(try await nodes.a.client.get("/health/live").status == 200)
            try await cluster.start()
            try await nodes.a.waitUntil(ready: true)
            try await nodes.b.waitUntil(ready: true)
            // The node may have connections left that it has not found broken yet.
            try await eventually("the message to be accepted") {
                try await [200, 201].contains(nodes.a.client.say("hi", in: thread, as: ann, id: id).status)
            }

            let answer = try await poll
            #expect(answer.status == 200 || answer.status == 503, "\(answer)")
            if answer.status == 200 { #expect(answer.json["events"].items.map { $0["data"]["id"].string } == [id]) }
            let again = try await eventually("an answer") {
                let again = try await nodes.b.client.sync(bob, from: cursor)
                return again.status == 200 ? again : nil
            }
            #expect(again.json["events"].items.map { $0["data"]["id"].string } == [id])
            try await nodes.stop()
        }

        @Test("a running node keeps its caches correct: a token signed out meanwhile is refused")
        func signedOutMeanwhile() async throws {
            let cluster = try await StoppableCluster.running()
            let nodes = try await TestNodes.own(on: cluster)
            let ann = try await nodes.b.client.register("Ann")
            #expect(try await nodes.b.client.get("/v1/users/me", as: ann).status == 200)
            nodes.b.program.send(SIGSTOP)
            #expect(try await nodes.a.client.call("POST", "/v1/auth/logout", as: ann).status == 204)
            await cluster.stop(.immediate)
            try await cluster.start()
            nodes.b.program.send(SIGCONT)
            try await nodes.b.waitUntil(ready: true)
            try await eventually("the token to be refused") {
                try await nodes.b.client.get("/v1/users/me", as: ann).status == 401
            }
            try await nodes.stop()
        }
    }
}
