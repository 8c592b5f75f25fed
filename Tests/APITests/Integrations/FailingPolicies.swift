// Policies that are slow, wrong or away.
import Domain
import ServiceConfiguration
import TestSupport
import Testing

@Suite("Failing policies", .timeLimit(.minutes(1)))
struct FailingPolicies {
    private static let words = ["slow", "500", "429", "302", "drop", "garbage", "unknown", "badrewrite", "norewrite"]

    private static func stage(_ fail: Settings.PolicyFail) async throws -> PolicyStage {
        try await PolicyStage(nodeCount: 1) { settings in
            settings.policyFail = fail
            settings.policyTimeoutMs = 500
        }
    }

    /// A failure, and after it successes, so that the node continues asking.
    @Test("leave messages to be accepted, and only those", arguments: [words])
    func open(_ words: [String]) async throws {
        let stage = try await Self.stage(.open)
        let (ann, _, thread) = try await stage.people()
        for word in words {
            let sent = try await ann.client.say("\(word) x", in: thread)
            #expect(sent.status == 201 && sent["payload.text"] == .string("\(word) x"), "\(word): \(sent.text)")
            #expect(try await ann.client.say("deny", in: thread).status == 403, "\(word)")
        }
        let id = try await ann.client.say("one", in: thread).string("id")
        #expect(try await ann.client.edit(id, in: thread, to: "500 two").status == 200)
    }

    @Test("refuse messages with 503 and Retry-After where the operator wants it, and store nothing")
    func closed() async throws {
        let stage = try await Self.stage(.closed)
        let (ann, _, thread) = try await stage.people()
        for word in Self.words {
            let id = MessageID.make().description
            let refused = try await ann.client.say("\(word) x", in: thread, id: id)
            #expect(refused.status == 503 && refused.problemCode == "unavailable", "\(word): \(refused.text)")
            #expect(Int(refused.headers["retry-after"] ?? "") ?? 0 >= 1)
            #expect(try await stage.sql("select count(*) from messages where id = '\(id)'") == "0")
            // The policy has recovered: the same message is asked about again.
            try stage.policy.behave("allow")
            #expect(try await ann.client.say("\(word) x", in: thread, id: id).status == 201, "\(word)")
            try stage.policy.behave(nil)
        }
        let id = try await ann.client.say("one", in: thread).string("id")
        #expect(try await ann.client.edit(id, in: thread, to: "500 two").status == 503)
        #expect(try await ann.client.get("/v1/threads/\(thread)/messages/\(id)")["payload.text"] == .string("one"))
    }

    @Test("are not asked for a while after failures in a row, and are asked again later")
    func pauses() async throws {
        let stage = try await Self.stage(.closed)
        let (ann, _, thread) = try await stage.people()
        try stage.policy.behave("500")
        for _ in 0..<20 { #expect(try await ann.client.say("hi", in: thread).status == 503) }
        #expect(try stage.policy.questions(about: thread).count < 12)
        let metrics = try await Client(port: stage.nodes[0].port).get("/metrics").text
        #expect(metrics.contains("parley_policy_failures_total{reason=\"paused\"}"))
        #expect(metrics.contains("parley_policy_failures_total{reason=\"status\"}"))
        try stage.policy.behave(nil)
        try await eventually("a message is accepted") {
            try await ann.client.say("hi", in: thread).status == 201
        }
    }

    @Test("that are gone refuse at once")
    func gone() async throws {
        let stage = try await Self.stage(.closed)
        let (ann, bob, thread) = try await stage.people()
        try await stage.policy.stop()
        #expect(try await ann.client.say("hi", in: thread).status == 503)
        #expect(try await bob.client.get("/v1/threads/\(thread)/messages").status == 200)
        let secret = #"{"type":"encrypted","payload":{"ciphertext":"aGk="}}"#
        #expect(try await ann.client.post("/v1/threads/\(thread)/messages", secret).status == 201)
    }
}
