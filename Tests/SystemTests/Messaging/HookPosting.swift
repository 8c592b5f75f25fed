// Incoming hooks as services use them: posts to nodes that are killed, limits, and the secrecy of the address.

import Foundation
import TestSupport
import Testing

/// The settings of the long form, from the environment.
private enum Scale {
    static let postCount = ProcessInfo.processInfo.environment["PARLEY_HOOK_POSTS"].flatMap { Int($0) } ?? 60
    static var minutesMax: Int { 3 + postCount / 200 }
}

extension SystemTests {
    @Suite("Posting to hooks", .timeLimit(.minutes(Scale.minutesMax)))
    struct HookPosting {
        private static let adminToken = "admin-of-the-hooks"
        private static let admin = Person(id: "", username: "", password: "", session: "", token: adminToken)

        /// A hook's path, and the thread that it posts to.
        private func hook(_ client: Client, _ ann: Person) async throws -> (path: String, thread: String) {
            let thread = try await client.thread("group", by: ann, with: [])
            let made = try await client.call(
                "POST", "/v1/admin/hooks", ["thread_id": .string(thread), "name": "GitLab"], as: Self.admin)
            let url = try #require(made.json["url"].string, "\(made)")
            return (String(url.dropFirst(client.address.description.count)), thread)
        }

        /// What GitLab's notification service sends to Slack, in short.
        private static func body(_ number: Int) -> Data {
            Data(
                """
                {"username":"GitLab","icon_url":"https://gitlab.example/logo.png","text":"","attachments":[
                {"fallback":"Pipeline #\(number) failed","color":"danger","author_name":"Ann",
                "title":"Pipeline #\(number)","text":"<https://gitlab.example/p/\(number)|app>: &quot;main&quot; has failed",
                "fields":[{"title":"Branch","value":"<https://gitlab.example/b/main|main>","short":true}],"footer":"app"}]}
                """.utf8)
        }

        @Test("with a key stores each post once, whatever is killed and repeated")
        func kills() async throws {
            let database = try await MigratedDatabase.create()
            let nodes = try await RestartableNodes.start(
                2, on: database, settings: ["PARLEY_ADMIN_TOKEN": Self.adminToken, "PARLEY_LOG_LEVEL": "debug"])
            let first = Client(address: nodes.addresses[0])
            let ann = try await first.register("Ann")
            let (path, thread) = try await hook(first, ann)

            // Each is posted until a node has answered 200, and every third once more.
            try await nodes.killInTurn(during: Scale.postCount) { number in
                var left = number % 3 == 0 ? 2 : 1
                for attempt in 0..<200 where left > 0 {
                    var request = Request("POST", path)
                    request.headers = [("Content-Type", "application/json"), ("Idempotency-Key", "pipeline-\(number)")]
                    request.body = Self.body(number)
                    request.waitMax = .seconds(5)
                    let answer = try? await Client(address: nodes.addresses[(number + attempt) % 2]).send(request)
                    if answer?.status == 200 { left -= 1 } else { try await Task.sleep(for: .milliseconds(50)) }
                    #expect([200, 503, nil].contains(answer?.status), "\(String(describing: answer))")
                }
                #expect(left == 0, "post \(number) was never answered")
            }
            var texts: [String] = []
            var seqs: [Int] = []
            while true {
                let after = seqs.last ?? 0
                let page = try await first.get("/v1/threads/\(thread)/messages?limit=200&after=\(after)", as: ann).json
                for message in page["messages"].items where message["type"] != "system" {
                    texts.append(message["payload"]["text"].string ?? "")
                }
                seqs += page["messages"].items.compactMap { $0["seq"].int }
                if page["end"] == true || page["messages"].items.isEmpty { break }
            }
            let expected = (0..<Scale.postCount).map {
                "Pipeline #\($0)\napp (https://gitlab.example/p/\($0)): &quot;main&quot; has failed\n"
                    + "Branch: main (https://gitlab.example/b/main)"
            }
            #expect(texts.sorted() == expected.sorted())
            #expect(seqs == Array(1...max(1, seqs.count)))
            // Neither the log at its most talkative nor the metrics have the address.
            let token = path.split(separator: "/").last.map { String($0) } ?? ""
            for index in 0..<2 {
                var request = Request("POST", path)
                request.headers = [("Content-Type", "application/json"), ("Idempotency-Key", "pipeline-0")]
                request.body = Self.body(0)
                let client = Client(address: nodes.addresses[index])
                #expect(try await client.send(request).status == 200)
                let metrics = try await client.get("/metrics").text
                #expect(metrics.contains("parley_hook_posts_total{outcome=\"repeated\"}") && !metrics.contains(token))
                let program = await nodes[index].program
                try await eventually("a line about the post") { program.errors.contains("postToHook") }
                #expect(!program.errors.contains(token))
            }
            try await nodes.stopAll()
        }
    }
}
