// Rate limits of two processes, with the default quotas and a trusted proxy from the environment. What is counted, and how,
// is tested in APITests (GuessingPasswords, LimitsOfAnAccount) and StoreTests (SignInAttempts, SharedLimits).

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Rate limits on two nodes", .timeLimit(.minutes(3)))
    struct RateLimits {
        @Test("count wrong passwords on both nodes together, and successes of other addresses separately")
        func guessing() async throws {
            let nodes = try await TestNodes.own(
                on: try await TestCluster.shared(),
                settings: ["PARLEY_RATE_LIMITS": "on", "PARLEY_TRUSTED_PROXIES": "127.0.0.1"])
            let (ann, bob) = (try await nodes.a.client.register("Ann"), try await nodes.a.client.register("Bob"))
            let connections = nodes.addresses.map { Connection($0) }
            func signIn(_ person: Person, _ password: String, from address: String, on node: Int) async throws -> Answer
            {
                var request = Request("POST", "/v1/auth/login")
                request.headers = [("Content-Type", "application/json"), ("X-Forwarded-For", "192.0.2.99, \(address)")]
                let body: JSON = ["username": .string(person.username), "password": .string(password)]
                request.body = body.data
                return try await connections[node].send(request)
            }
            // From the tenth on, each attempt has to wait twice as long as the one before: on a slow machine some more
            // are checked before one comes too early.
            var (checkedCount, refusal): (Int, Answer?) = (0, nil)
            for number in 0..<20 where refusal == nil {
                let answer = try await signIn(ann, "wrong \(number)", from: "203.0.113.\(number)", on: number % 2)
                if answer.status == 429 { refusal = answer } else { checkedCount += 1 }
            }
            let answer = try #require(refusal)
            #expect(checkedCount >= 10 && answer.code == "rate_limited", "\(checkedCount) \(answer)")
            #expect(answer.headers["ratelimit-policy"] == #""account-sign-ins";q=30;w=900"#)
            // The device that is signed in continues, and so does everybody else.
            #expect(try await connections[1].get("/v1/users/me", as: ann).status == 200)
            for node in 0..<2 {
                #expect(try await signIn(bob, bob.password, from: "203.0.113.200", on: node).status == 200)
            }
            #expect(try await nodes.a.metric("parley_rate_limited_total") ?? 0 >= 0)
            try await nodes.stop()
        }
    }
}
