// Guessing passwords on two nodes, with the default limits.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Rate limits on two nodes")
    struct RateLimits {
        @Test(
            "are shared by nodes, count addresses behind a proxy separately, and do not reveal which accounts exist"
        )
        func guessing() async throws {
            let nodes = try await TestNodes.own(
                on: try await TestCluster.shared(),
                settings: ["PARLEY_RATE_LIMITS": "on", "PARLEY_TRUSTED_PROXIES": "127.0.0.1"])
            let ann = try await nodes.a.curl.register("Ann")
            let connections = nodes.addresses.map { Connection($0) }
            @Sendable func signIn(_ body: JSON, from address: String, over connection: Connection) async throws
                -> Answer
            {
                var request = Request("POST", "/v1/auth/login")
                request.headers = [("Content-Type", "application/json"), ("X-Forwarded-For", "192.0.2.99, \(address)")]
                request.body = body.data
                return try await connection.send(request)
            }
            func signIn(_ body: JSON, from address: String, on node: Int) async throws -> Answer {
                try await signIn(body, from: address, over: connections[node])
            }
            /// Tries wrong passwords on both nodes at once, each from another address, until both refuse. Returns how many
            /// were checked.
            func guesses(_ username: String) async throws -> (count: Int, refusal: Answer) {
                var (count, refusal): (Int, Answer?) = (0, nil)
                for round in 0..<40 {
                    let body: JSON = ["username": .string(username), "password": .string("wrong \(round)")]
                    async let first = signIn(body, from: "203.0.113.\(round)", on: 0)
                    async let second = signIn(body, from: "198.51.100.\(round)", on: 1)
                    let answers = try await [first, second]
                    #expect(answers.allSatisfy { [401, 429].contains($0.status) })
                    count += answers.count { $0.status == 401 }
                    refusal = answers.first { $0.status == 429 } ?? refusal
                    if answers.allSatisfy({ $0.status == 429 }) { break }
                }
                return (count, try #require(refusal))
            }

            let (count, refusal) = try await guesses(ann.username)
            // Ten, and the attempts that the two nodes had under way at once.
            #expect((10...12).contains(count), "\(count)")
            #expect(refusal.code == "rate_limited")
            let wait = try #require(refusal.headers["retry-after"].flatMap { Int($0) })
            #expect((1...30).contains(wait))
            #expect(refusal.headers["ratelimit"] == #""account-sign-ins";r=0;t=\#(wait)"#)
            #expect(refusal.headers["ratelimit-policy"] == #""account-sign-ins";q=30;w=900"#)
            // Even a right guess is refused now; signed-in devices continue.
            let right: JSON = ["username": .string(ann.username.uppercased()), "password": .string(ann.password)]
            #expect(try await signIn(right, from: "203.0.113.200", on: 0).status == 429)
            #expect(try await connections[1].get("/v1/users/me", as: ann).status == 200)

            // Attempts for an unknown name are refused in the same way.
            let (unknown, other) = try await guesses("nobody")
            #expect((10...12).contains(unknown) && other.json["detail"] == refusal.json["detail"])

            // From one address, for any account.
            let refused = try await withThrowingTaskGroup(of: Int.self) { group in
                for lane in 0..<8 {
                    group.addTask {
                        let connection = Connection(nodes.addresses[lane % 2])
                        var refusedCount = 0
                        for _ in 0..<135 {
                            let answer = try await signIn(["token": "x"], from: "203.0.113.250", over: connection)
                            if answer.status == 429 { refusedCount += 1 }
                        }
                        return refusedCount
                    }
                }
                return try await group.reduce(0, +)
            }
            // 1,000 of 1,080, plus one for each 0.9 s of this test.
            #expect((60...80).contains(refused), "\(refused)")
            #expect(try await signIn(["token": "x"], from: "203.0.113.251", on: 0).status == 401)
            // Successful sign-ins count in a separate bucket.
            let bob = try await nodes.a.curl.register("Bob")
            let good: JSON = ["username": .string(bob.username), "password": .string(bob.password)]
            for number in 0..<4 { #expect(try await signIn(good, from: "203.0.113.252", on: number % 2).status == 200) }
            // Buckets of failures: Ann's, the unknown name's and that address's; of successes: Bob's.
            let used = "select count(*) from rate_limits where full_at > now() + interval '10 s'"
            #expect(try await Psql.run(used, conninfo: nodes.database) == "4")
            #expect(try await nodes.a.metric("parley_rate_limited_total") ?? 0 > 0)
            try await nodes.stop()
        }
    }
}
