// The policy hook of real nodes: nodes that are killed between a question and a retry, and a policy that is down.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("The policy with killed nodes", .timeLimit(.minutes(3)))
    struct PolicyUnderKills {
        private let policy: PolicyServer
        private let nodes: RestartableNodes
        private let first: Client
        private let ann: Person
        private let thread: String

        init() async throws {
            policy = try await PolicyServer.start()
            nodes = try await RestartableNodes.start(
                2, on: try await MigratedDatabase.create(),
                settings: ["PARLEY_POLICY_URL": policy.url, "PARLEY_POLICY_TIMEOUT_MS": "10000"])
            first = Client(address: nodes.addresses[0])
            ann = try await first.register("Ann")
            thread = try await first.thread("group", by: ann, with: [])
        }

        private func send(_ text: String, _ id: String, to node: Int) async -> Answer? {
            try? await Client(address: nodes.addresses[node]).call(
                "POST", "/v1/threads/\(thread)/messages", ["id": .string(id), "payload": ["text": .string(text)]],
                as: ann)
        }

        @Test("agrees on a verdict, whether a node is killed before or after the policy has answered")
        func verdicts() async throws {

            // The answer was given. The policy changes its mind, and its verdict stays.
            let denied = UUID().uuidString.lowercased()
            #expect(await send("deny it", denied, to: 0)?.code == "too_rude")
            try await nodes.kill(0)
            try policy.behave("allow")
            #expect(await send("deny it", denied, to: 1)?.code == "too_rude")
            try await nodes.restart(0)
            #expect(await send("deny it", denied, to: 0)?.code == "too_rude")
            #expect(try policy.questions(about: denied).count == 1)

            // The question was asked. Nobody has seen an answer, so the retry asks again, and its verdict stays.
            try policy.behave("slow")
            let asked = UUID().uuidString.lowercased()
            async let lost = send("slow one", asked, to: 0)
            try await eventually("the question") { try policy.questions(about: asked).isEmpty ? nil : true }
            try await nodes.kill(0)
            #expect(await lost == nil)
            try policy.behave("review")
            #expect(await send("slow one", asked, to: 1)?.status == 202)
            try policy.behave("allow")
            try await nodes.restart(0)
            #expect(await send("slow one", asked, to: 0)?.status == 202)
            #expect(try policy.questions(about: asked).count == 2)
            let page = try await first.get("/v1/threads/\(thread)/messages", as: ann).json
            #expect(page["messages"].items.filter { $0["type"] != "system" }.isEmpty)
            try await nodes.stopAll()
        }

        @Test("stores each rewritten message once, whatever is killed and repeated")
        func kills() async throws {
            try await nodes.killInTurn(during: 60) { number in
                let id = UUID().uuidString.lowercased()
                var answers: [String?] = []
                for attempt in 0..<200 where answers.count < 2 {
                    let answer = await send("rewrite \(number)", id, to: (number + attempt) % 2)
                    if let answer, answer.status < 300 {
                        answers.append(answer.json["payload"]["text"].string)
                    } else {
                        try await Task.sleep(for: .milliseconds(50))
                    }
                }
                #expect(answers == ["(rewritten) \(number)", "(rewritten) \(number)"])
            }
            let page = try await first.get("/v1/threads/\(thread)/messages?limit=200", as: ann).json
            let texts = page["messages"].items.filter { $0["type"] != "system" }
                .compactMap { $0["payload"]["text"].string }
            #expect(texts.sorted() == (0..<60).map { "(rewritten) \($0)" }.sorted())
            try await nodes.stopAll()
        }
    }
}
