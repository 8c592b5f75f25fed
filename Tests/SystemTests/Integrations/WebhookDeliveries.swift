// Events as an endpoint receives them, and what its answers cause.
import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Deliveries to webhooks", .timeLimit(.minutes(3)))
    struct WebhookDeliveries {
        /// An endpoint of the test's own for the shared nodes, which retry twice.
        private static func start() async throws -> (Node, WebhookStage) {
            let nodes = try await TestNodes.administered()
            let sink = try await WebhookSink.start()
            return (nodes.a, try await WebhookStage(sink, database: nodes.database, at: nodes.a.client))
        }

        @Test(
            "are signed events with type, time, thread, actor and data, and after a rotation both secrets sign")
        func signed() async throws {
            let (node, stage) = try await Self.start()
            let hook = try await stage.webhook("/a", ["types": ["message.created"]])
            let thin = try await stage.webhook("/thin", ["types": ["message.created"], "thin": true])
            let thread = try await stage.thread()
            let message = try await node.client.sent("hello", in: thread, as: stage.ann)
            let request = try #require(try await stage.accepted("/a", count: 1).first)
            #expect(request.verified == (WebhookSink.canVerify ? true : nil) && request.signatures == 1)
            #expect(request.id?.wholeMatch(of: /evt_0_[0-9]+_[0-9]+/) != nil)
            #expect(request.json["type"] == "message.created" && request.json["timestamp"].string != nil)
            #expect(request.json["thread_id"].string == thread && request.json["actor"].string == stage.ann.id)
            #expect(request.json["data"]["id"].string == message && request.text == "hello")
            let small = try #require(try await stage.accepted("/thin", count: 1).first)
            #expect(small.json["data"]["id"].string == message && small.json["data"]["payload"] == .null)
            #expect(small.id == request.id)
            #expect(try await stage.get(thin.id)["thin"] == true)

            let rotated = try await node.client.post(
                "/v1/admin/webhooks/\(hook.id)/rotate", [:], as: WebhookStage.operatorPerson)
            let secret = try #require(rotated.json["secret"].string)
            try await stage.sink.expect([hook.secret, secret], of: "/a")
            // The node that delivers knows the new secret within a second or so.
            try await eventually("two signatures", every: .milliseconds(500)) {
                _ = try await node.client.sent("x", in: thread, as: stage.ann)
                return try stage.sink.requests("/a").last?.signatures == 2 ? true : nil
            }
            #expect(try stage.sink.requests("/a").last?.verified == (WebhookSink.canVerify ? true : nil))
            _ = try await Psql.run(
                "update webhooks set former_until = now() where id = '\(hook.id)'", conninfo: stage.database)
            try await eventually("one signature", every: .milliseconds(500)) {
                _ = try await node.client.sent("y", in: thread, as: stage.ann)
                return try stage.sink.requests("/a").last?.signatures == 1 ? true : nil
            }
            try await stage.caughtUp(hook.id)
            try await eventually("the list") {
                try await stage.deliveries(hook.id, "delivered").contains(request.id ?? "") ? true : nil
            }
            #expect(try await stage.deliveries(hook.id, "failed") == [])
            try await stage.remove(hook.id, thin.id)
        }

        @Test("that fail are retried in their thread's order, then parked, and come again by a replay")
        func parked() async throws {
            // The second try comes so late that the test can look at the first failure.
            let database = try await MigratedDatabase.create()
            let node = try await Node.start(database: database, settings: WebhookStage.settings(retries: "5,5"))
            let stage = try await WebhookStage(try await WebhookSink.start(), database: database, at: node.client)
            let hook = try await stage.webhook("/a", ["types": ["message.created"]])
            let thread = try await stage.thread()
            let other = try await stage.thread()
            let cursor = try await node.client.cursor(of: stage.ann)
            try await stage.sink.behave(.answer(500), of: "/a", times: 3, containing: #""one""#)
            for text in ["one", "two", "three"] { _ = try await node.client.sent(text, in: thread, as: stage.ann) }
            try await eventually("a failed delivery") {
                let failed = try await stage.get(hook.id, "/deliveries?state=failed")["deliveries"][0]
                return failed["next_at"].string != nil && failed["status"] == 500 && failed["tries"] == 1 ? true : nil
            }
            #expect(try await stage.deliveries(hook.id, "pending").count == 2)
            _ = try await node.client.sent("other", in: other, as: stage.ann)
            try await stage.accepted("/a", count: 3)
            let requests = try stage.sink.requests("/a")
            #expect(
                requests.filter { $0.json["thread_id"].string == thread }.compactMap(\.text) == [
                    "one", "one", "one", "two", "three",
                ])
            // The other thread did not wait.
            let (otherIndex, twoIndex) = (
                requests.firstIndex { $0.text == "other" }, requests.firstIndex { $0.text == "two" }
            )
            #expect((otherIndex ?? .max) < (twoIndex ?? 0))
            try await stage.caughtUp(hook.id)
            let parked = try await stage.get(hook.id, "/deliveries?state=parked")["deliveries"]
            #expect(
                parked.items.count == 1 && parked[0]["tries"] == 3 && parked[0]["event_id"].string == requests[0].id)
            let replay = try await node.client.post(
                "/v1/admin/webhooks/\(hook.id)/replay", ["cursor": .string(cursor)], as: WebhookStage.operatorPerson)
            #expect(replay.status == 200, "\(replay)")
            try await stage.accepted("/a", count: 4)
            #expect(try stage.sink.requests("/a").filter { $0.id == requests[0].id }.last?.isAccepted == true)
            try await stage.caughtUp(hook.id)
            #expect(try await stage.deliveries(hook.id, "parked") == [])
            let unknown = try await node.client.post(
                "/v1/admin/webhooks/\(hook.id)/test", [:], as: WebhookStage.operatorPerson)
            #expect(unknown.status == 200 && unknown.json["delivered"] == true && unknown.json["status"] == 200)
            #expect(try stage.sink.requests("/a").last?.json["type"] == "webhook.test")
            try await node.stop()
        }

        @Test("end with a 410, and follow when the webhook is enabled again; redirects are never followed")
        func gone() async throws {
            let (node, stage) = try await Self.start()
            let hook = try await stage.webhook("/a", ["types": ["message.created"]])
            let thread = try await stage.thread()
            try await stage.sink.behave(
                .answer(307, headers: ["location": stage.sink.url("/elsewhere")]), of: "/a", times: 1)
            _ = try await node.client.sent("zero", in: thread, as: stage.ann)
            try await stage.accepted("/a", count: 1)
            #expect(try stage.sink.requests("/elsewhere").isEmpty)
            try await stage.sink.behave(.answer(410), of: "/a", times: 100)
            for text in ["one", "two"] { _ = try await node.client.sent(text, in: thread, as: stage.ann) }
            try await eventually("the webhook to be disabled") {
                try await stage.get(hook.id)["enabled"] == false ? true : nil
            }
            #expect(try await stage.get(hook.id)["disabled_reason"] == "gone")
            try await stage.sink.restore("/a")
            // Another webhook gets what is sent now, the second message after a retry: a disabled one would have, too.
            let witness = try await stage.webhook("/b", ["types": ["message.created"]])
            try await stage.sink.behave(.answer(500), of: "/b", times: 1, containing: #""four""#)
            for text in ["three", "four"] { _ = try await node.client.sent(text, in: thread, as: stage.ann) }
            #expect(try await stage.accepted("/b", count: 2).compactMap(\.text) == ["three", "four"])
            #expect(try stage.sink.acceptedIDs("/a").count == 1)
            #expect(try await stage.deliveries(hook.id, "pending").count == 4)
            let enabled = try await node.client.call(
                "PATCH", "/v1/admin/webhooks/\(hook.id)", ["enabled": true], as: WebhookStage.operatorPerson)
            #expect(enabled.json["enabled"] == true)
            let accepted = try await stage.accepted("/a", count: 5)
            #expect(accepted.compactMap(\.text) == ["zero", "one", "two", "three", "four"])
            try await stage.caughtUp(hook.id)
            try await stage.remove(hook.id, witness.id)
        }

        @Test("follow a change of types, address or state from its answer on, in order and without a loss")
        func changedSettings() async throws {
            let (node, stage) = try await Self.start()
            let hook = try await stage.webhook("/0", ["types": ["reaction.updated"]])
            let thread = try await stage.thread()
            func change(_ body: [String: JSON]) async throws {
                let changed = try await node.client.call(
                    "PATCH", "/v1/admin/webhooks/\(hook.id)", .object(body), as: WebhookStage.operatorPerson)
                try #require(changed.status == 200, "\(changed)")
            }
            /// Sends ten messages at once, less than the time in which a node notices a change by itself.
            func send(_ name: String) async throws -> [String] {
                let texts = (0..<10).map { "\(name) \($0)" }
                for text in texts { _ = try await node.client.sent(text, in: thread, as: stage.ann) }
                return texts
            }
            func expect(_ texts: [String], at path: String) async throws {
                let received = try await eventually("\(texts.last ?? "") at \(path)") {
                    let received = try stage.sink.requests(path).compactMap(\.text)
                    return received.last == texts.last ? received : nil
                }
                #expect(received.filter(Set(texts).contains) == texts)
            }
            // A node delivers to the webhook, and has passed what was sent before.
            _ = try await send("filtered")
            try await stage.caughtUp(hook.id)

            try await change(["types": ["message.created"]])
            try await expect(send("types"), at: "/0")
            try await change(["url": .string(stage.sink.url("/1"))])
            try await expect(send("address"), at: "/1")
            try await change(["types": ["reaction.updated"], "url": .string(stage.sink.url("/2"))])
            _ = try await send("filtered again")
            try await stage.caughtUp(hook.id)
            try await change(["types": .null])
            try await expect(send("all types"), at: "/2")
            try await change(["enabled": false])
            let disabled = try await send("disabled")
            try await change(["enabled": true, "url": .string(stage.sink.url("/3"))])
            try await expect(disabled + send("enabled"), at: "/3")

            let texts = try ["/0", "/1", "/2", "/3"].map { try stage.sink.requests($0).compactMap(\.text) }
            #expect(texts.map(\.count) == [10, 10, 10, 20], "each message reached one address: \(texts)")
            #expect(try await stage.get(hook.id)["lost_events"] == 0)
            try await stage.remove(hook.id)
        }

        @Test("to an address that is not public fail, also if it was allowed when the webhook was created")
        func privateAddress() async throws {
            let database = try await MigratedDatabase.create()
            let node = try await Node.start(database: database, settings: WebhookStage.settings(retries: "1"))
            let stage = try await WebhookStage(try await WebhookSink.start(), database: database, at: node.client)
            let hook = try await stage.webhook("/a", ["types": ["message.created"]])
            let thread = try await stage.thread()
            try await node.stop()
            var settings = WebhookStage.settings(retries: "1")
            settings["PARLEY_PUSH_ALLOW_PRIVATE"] = "false"
            _ = try await Psql.run(
                "update webhooks set url = 'https://127.0.0.1:\(stage.sink.port)/a'", conninfo: stage.database)
            let strict = try await Node.start(database: stage.database, settings: settings)
            _ = try await strict.client.sent("one", in: thread, as: stage.ann)
            let own = try await WebhookStage(stage.sink, database: stage.database, at: strict.client)
            try await eventually("the parked event") {
                let parked = try await own.get(hook.id, "/deliveries?state=parked")["deliveries"][0]
                return parked["reason"] == "address" && parked["status"] == .null ? true : nil
            }
            #expect(try stage.sink.requests("/a").isEmpty)
            try await strict.stop()
        }
    }
}
