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
                return try stage.sink.requests("/a").last?.signatures == 2
            }
            #expect(try stage.sink.requests("/a").last?.verified == (WebhookSink.canVerify ? true : nil))
            _ = try await Psql.run(
                "update webhooks set former_until = now() where id = '\(hook.id)'", conninfo: stage.database)
            try await eventually("one signature", every: .milliseconds(500)) {
                _ = try await node.client.sent("y", in: thread, as: stage.ann)
                return try stage.sink.requests("/a").last?.signatures == 1
            }
            try await stage.caughtUp(hook.id)
            try await eventually("the list") {
                try await stage.deliveries(hook.id, "delivered").contains(request.id ?? "")
            }
            #expect(try await stage.deliveries(hook.id, "failed") == [])
            let test = try await node.client.post(
                "/v1/admin/webhooks/\(hook.id)/test", [:], as: WebhookStage.operatorPerson)
            #expect(test.status == 200 && test.json["delivered"] == true && test.json["status"] == 200)
            #expect(try stage.sink.requests("/a").last?.json["type"] == "webhook.test")
            try await stage.remove(hook.id, thin.id)
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
                return parked["reason"] == "address" && parked["status"] == .null
            }
            #expect(try stage.sink.requests("/a").isEmpty)
            try await strict.stop()
        }
    }
}
