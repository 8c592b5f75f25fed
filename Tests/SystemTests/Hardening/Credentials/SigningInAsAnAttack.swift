// Sign-ins with the right password as an attack, and how much they delay sign-ins from another address.

import Foundation
import TestSupport
import Testing

/// People who sign in one after another from their own address.
struct OtherSignIns: Sendable {
    static let clientAddress = "198.51.100.7"

    let address: Address
    /// Several people, so that none uses up the sign-ins of an account.
    let people: [Person]

    /// Signs in again and again, and times each.
    func times(for seconds: Double) async throws -> SendTimes {
        let connection = Connection(address)
        var times = SendTimes()
        var count = 0
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end {
            let began = ContinuousClock.now
            let answer = try await connection.signIn(people[count % people.count], from: Self.clientAddress)
            times.add(began.duration(to: .now).seconds * 1_000, wasAccepted: answer.status == 200)
            count += 1
        }
        return times
    }
}

extension Caller {
    /// Signs in by password, through a proxy that says where the request comes from.
    func signIn(_ person: Person, from clientAddress: String, password: String? = nil) async throws -> Answer {
        try await call(
            "POST", "/v1/auth/login",
            ["username": .string(person.username), "password": .string(password ?? person.password)],
            headers: [("X-Forwarded-For", clientAddress)])
    }
}

extension SystemTests {
    @Suite("Sign-ins as an attack", .timeLimit(.minutes(5)))
    struct SigningInAsAnAttack {
        @Test("with right passwords for ten accounts from one address do not slow sign-ins from another address")
        func rightPasswords() async throws {
            let node = try await Node.start(
                database: try await TestCluster.shared().createDatabase(),
                settings: [
                    "PARLEY_RATE_LIMITS": "on", "PARLEY_TRUSTED_PROXIES": "127.0.0.1", "PARLEY_PASSWORD_COST": "15",
                ])
            var (attackers, people): ([Person], [Person]) = ([], [])
            for _ in 0..<10 { attackers.append(try await node.client.register("Mallory")) }
            for _ in 0..<4 { people.append(try await node.client.register("Ann")) }
            let own = attackers
            let others = OtherSignIns(address: node.address, people: people)

            let notice = try await OtherUsers.join(node).notice(
                connectionCount: 100, timing: { try await others.times(for: $0) }
            ) { connection, lane in
                let answer = try await connection.signIn(own[lane % own.count], from: "203.0.113.1")
                // Otherwise the test would measure how quickly the node refuses requests.
                if answer.status == 429 { try await Task.sleep(for: .milliseconds(100)) }
            }
            notice.expect("right passwords, 10 accounts, 100 connections of one address", ratioMax: 6, msMax: 5_000)
            #expect(try await node.metric("parley_sign_ins_refused_total") ?? 0 > 0)

            // Right passwords of an account have their own limit, separate from wrong ones.
            let (mallory, connection) = (attackers[0], Connection(node.address))
            var statuses: [Int] = []
            for number in 0..<80 where statuses.last != 429 {
                statuses.append(try await connection.signIn(mallory, from: "192.0.2.\(number)").status)
            }
            #expect(statuses.dropLast().allSatisfy { $0 == 200 } && statuses.last == 429)
            let refusal = try await connection.signIn(mallory, from: "192.0.2.99")
            #expect(refusal.headers["ratelimit-policy"] == #""account-successful-sign-ins";q=60;w=900"#, "\(refusal)")
            try await node.stop()
        }
    }
}
