// The policy hook of real nodes: nodes that are killed between a question and a retry, and a policy that is down.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("The policy with killed nodes", .timeLimit(.minutes(3)))
    struct PolicyUnderKills {
        private static func settings(_ url: String, timeoutMs: Int = 10_000) -> [String: String] {
            ["PARLEY_POLICY_URL": url, "PARLEY_POLICY_TIMEOUT_MS": "\(timeoutMs)"]
        }

        private func send(_ text: String, _ id: String, to address: Address, in thread: String, as ann: Person) async
            -> Answer?
        {
            try? await Client(address: address).call(
                "POST", "/v1/threads/\(thread)/messages", ["id": .string(id), "payload": ["text": .string(text)]],
                as: ann)
        }

        @Test("agrees on a verdict, whether a node is killed before or after the policy has answered")
        func verdicts() async throws {
            let policy = try await PolicyServer.start()
            let database = try await MigratedDatabase.create()
            let nodes = try await RestartableNodes.start(2, on: database, settings: Self.settings(policy.url))
            let first = Client(address: nodes.addresses[0])
            let ann = try await first.register("Ann")
            let thread = try await first.thread("group", by: ann, with: [])

            // The answer was given. The policy changes its mind, and its verdict stays.
            let denied = UUID().uuidString.lowercased()
            #expect(await send("deny it", denied, to: nodes.addresses[0], in: thread, as: ann)?.code == "too_rude")
            try await nodes.kill(0)
            try policy.behave("allow")
            #expect(await send("deny it", denied, to: nodes.addresses[1], in: thread, as: ann)?.code == "too_rude")
            try await nodes.restart(0)
            #expect(await send("deny it", denied, to: nodes.addresses[0], in: thread, as: ann)?.code == "too_rude")
            #expect(try policy.questions(about: denied).count == 1)

            // The question was asked. Nobody has seen an answer, so the retry asks again, and its verdict stays.
            try policy.behave("slow")
            let asked = UUID().uuidString.lowercased()
            async let lost = send("slow one", asked, to: nodes.addresses[0], in: thread, as: ann)
            try await eventually("the question") { try policy.questions(about: asked).isEmpty ? nil : true }
            try await nodes.kill(0)
            #expect(await lost == nil)
            try policy.behave("review")
            #expect(await send("slow one", asked, to: nodes.addresses[1], in: thread, as: ann)?.status == 202)
            try policy.behave("allow")
            try await nodes.restart(0)
            #expect(await send("slow one", asked, to: nodes.addresses[0], in: thread, as: ann)?.status == 202)
            #expect(try policy.questions(about: asked).count == 2)
            let page = try await first.get("/v1/threads/\(thread)/messages", as: ann).json
            #expect(page["messages"].items.filter { $0["type"] != "system" }.isEmpty)
            try await nodes.stopAll()
        }

        @Test("stores each rewritten message once, whatever is killed and repeated")
        func kills() async throws {
            let policy = try await PolicyServer.start()
            let database = try await MigratedDatabase.create()
            let nodes = try await RestartableNodes.start(2, on: database, settings: Self.settings(policy.url))
            let first = Client(address: nodes.addresses[0])
            let ann = try await first.register("Ann")
            let thread = try await first.thread("group", by: ann, with: [])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<3 {
                    group.addTask {
                        for number in stride(from: lane, to: 60, by: 3) {
                            let id = UUID().uuidString.lowercased()
                            var answers: [String?] = []
                            for attempt in 0..<200 where answers.count < 2 {
                                let address = nodes.addresses[(number + attempt) % 2]
                                let answer = await send("rewrite \(number)", id, to: address, in: thread, as: ann)
                                if let answer, answer.status < 300 {
                                    answers.append(answer.json["payload"]["text"].string)
                                } else {
                                    try await Task.sleep(for: .milliseconds(50))
                                }
                            }
                            #expect(answers == ["(rewritten) \(number)", "(rewritten) \(number)"])
                        }
                    }
                }
                group.addTask {
                    for round in 0..<4 {
                        try await Task.sleep(for: .milliseconds(300))
                        try await nodes.kill(round % 2)
                        try await nodes.restart(round % 2)
                    }
                }
                try await group.waitForAll()
            }
            try await nodes.waitUntil(ready: true)
            let page = try await first.get("/v1/threads/\(thread)/messages?limit=200", as: ann).json
            let texts = page["messages"].items.filter { $0["type"] != "system" }
                .compactMap { $0["payload"]["text"].string }
            #expect(texts.sorted() == (0..<60).map { "(rewritten) \($0)" }.sorted())
            try await nodes.stopAll()
        }

        @Test("refuses messages with 503 while a required policy is down, stores nothing, and says so in the log")
        func away() async throws {
            let port = try Sockets.freePort()
            let database = try await MigratedDatabase.create()
            var settings = Self.settings("http://127.0.0.1:\(port)/policy?key=hidden", timeoutMs: 500)
            settings["PARLEY_POLICY_FAIL"] = "closed"
            let node = try await Node.start(database: database, settings: settings)
            let client = Client(address: node.address)
            let ann = try await client.register("Ann")
            let thread = try await client.thread("group", by: ann, with: [])
            for _ in 0..<10 {
                let refused = try await client.say("hi", in: thread, as: ann)
                #expect(refused.status == 503 && refused.code == "unavailable", "\(refused)")
                #expect(Int(refused.headers["retry-after"] ?? "") ?? 0 >= 1)
            }
            let secret: JSON = ["type": "encrypted", "payload": ["ciphertext": "aGk="]]
            #expect(try await client.post("/v1/threads/\(thread)/messages", secret, as: ann).status == 201)
            let page = try await client.get("/v1/threads/\(thread)/messages", as: ann).json
            #expect(page["messages"].items.filter { $0["type"] != "system" }.map { $0["type"] } == ["encrypted"])
            #expect(try await client.get("/health/ready").status == 200)
            let errors = node.program.errors
            #expect(errors.contains("asking the policy failed; the message is refused with 503"))
            #expect(errors.contains("the policy failed too often") && !errors.contains("key=hidden"))
            try await node.stop()
        }
    }
}
