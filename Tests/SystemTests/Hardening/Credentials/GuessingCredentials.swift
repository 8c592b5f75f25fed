// Guessing passwords and codes, of one account and of many.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Guessing passwords and codes")
    struct GuessingCredentials {
        @Test(
            "ten wrong passwords block further attempts on both nodes, for longer each time, for unknown names too"
        )
        func waits() async throws {
            let nodes = try await TestNodes.own(
                on: try await TestCluster.shared(),
                settings: [
                    "PARLEY_RATE_LIMITS": "on", "PARLEY_TRUSTED_PROXIES": "127.0.0.1", "PARLEY_SIGN_IN_WAIT_MAX_S": "2",
                ])
            let connections = nodes.addresses.map { Connection($0) }
            let ann = try await nodes.a.curl.register("Ann")
            let nobody = Person(id: "", username: unique("nobody"), password: "", session: "", token: "")
            func fail(_ person: Person, _ number: Int) async throws -> Answer {
                // Each attempt comes from another address, so that no limit of an address refuses it.
                try await connections[number % 2].signIn(person, from: "192.0.2.\(number)", password: "wrong \(number)")
            }
            var details: Set<String> = []
            for person in [ann, nobody] {
                for number in 0..<10 { #expect(try await fail(person, number).status == 401) }
                for waitS in [1, 2, 2] {
                    let refusal = try await fail(person, 10)
                    #expect(refusal.status == 429 && refusal.code == "rate_limited", "\(refusal)")
                    let named = try #require(refusal.headers["retry-after"].flatMap { Int($0) })
                    #expect((1...waitS).contains(named))
                    details.insert(refusal.json["detail"].string ?? "")
                    // Attempts during the wait do not extend it.
                    #expect(try await fail(person, 11).status == 429)
                    try await Task.sleep(for: .seconds(Double(waitS) + 0.1))
                    #expect(try await fail(person, 12).status == 401)
                }
            }
            #expect(details.count == 1)
            // The wait ends, and the right password clears the count.
            #expect(try await fail(ann, 13).status == 401)
            #expect(try await connections[0].signIn(ann, from: "192.0.2.20").status == 429)
            try await Task.sleep(for: .seconds(2.1))
            #expect(try await connections[0].signIn(ann, from: "192.0.2.20").status == 200)
            #expect(try await fail(ann, 21).status == 401)
            #expect(try await connections[1].signIn(ann, from: "192.0.2.20").status == 200)
            // An attacker with a device's token cannot guess any faster.
            for number in 0..<10 {
                let body: JSON = ["current": .string("wrong \(number)"), "new": "a new password"]
                let answer = try await connections[number % 2].put("/v1/users/me/password", body, as: ann)
                #expect(answer.status == 403 && answer.code == "wrong_password", "\(answer)")
            }
            let guess: JSON = ["current": .string(ann.password), "new": "a new password"]
            #expect(try await connections[0].put("/v1/users/me/password", guess, as: ann).status == 429)
            try await nodes.stop()
        }

        @Test("is counted in the metrics and logged once when it hits many accounts")
        func spraying() async throws {
            let node = try await Node.start(
                database: try await TestCluster.shared().createDatabase(), settings: ["PARLEY_SIGN_IN_ALARM": "5"])
            let connection = Connection(node.address)
            for number in 0..<9 {
                let body: JSON = ["username": .string("somebody\(number)"), "password": "123456"]
                #expect(try await connection.post("/v1/auth/login", body).status == 401)
            }
            let alarm = "somebody may be guessing passwords or codes"
            try await eventually("a line in the log") { node.program.errors.contains(alarm) ? true : nil }
            #expect(node.program.errors.components(separatedBy: alarm).count == 2)
            #expect(try await node.metric("parley_sign_in_failures_total") == 9)
            #expect(try await node.metric(#"parley_sign_in_failing"#) == 10)
            try await node.stop()
        }

        @Test("ten wrong codes for an address block its codes and mails for the rest of the day")
        func codes() async throws {
            let relay = try await TestRelay.shared()
            let node = try await Node.start(
                database: try await TestCluster.shared().createDatabase(), settings: relay.settings)
            let connection = Connection(node.address)
            let ann = "\(unique("ann-"))@mail.example"
            var codes: [String] = []
            for count in 1...2 {
                let answer = try await connection.post("/v1/auth/register", ["email": .string(ann), "name": "Ann"])
                #expect(answer.status == 202)
                codes.append(try #require(try await relay.mail(to: ann, count: count).code))
                for _ in 0..<5 {
                    let wrong: JSON = ["email": .string(ann), "code": "wrong"]
                    #expect(try await connection.post("/v1/auth/login", wrong).status == 401)
                }
            }
            let answer = try await connection.post("/v1/auth/code", ["email": .string(ann)])
            #expect(answer.status == 202)
            try await eventually("the mail to be handled") {
                try await node.metric("parley_mails_total") == 3 ? true : nil
            }
            #expect(try relay.attempts(to: ann) == 2)
            for code in codes {
                let body: JSON = ["email": .string(ann), "code": .string(code)]
                #expect(try await connection.post("/v1/auth/login", body).status == 401)
            }
            try await node.stop()
        }

        @Test("a stranger who registers an address after its owner can set neither name nor device")
        func registeringOthers() async throws {
            let relay = try await TestRelay.shared()
            let node = try await Node.start(
                database: try await TestCluster.shared().createDatabase(), settings: relay.settings)
            let connection = Connection(node.address)
            // The code mailed for the owner's request, and the code mailed for the stranger's.
            for used in [0, 1] {
                let ann = "\(unique("ann-"))@mail.example"
                let own: JSON = ["email": .string(ann), "name": "Ann", "device_name": "phone"]
                let strange: JSON = ["email": .string(ann), "name": "I am a thief", "device_name": "Police laptop"]
                var codes: [String] = []
                for (index, body) in [own, strange].enumerated() {
                    #expect(try await connection.post("/v1/auth/register", body).status == 202)
                    codes.append(try #require(try await relay.mail(to: ann, count: index + 1).code))
                }
                let login: JSON = ["email": .string(ann), "code": .string(codes[used])]
                let made = try await connection.post("/v1/auth/login", login)
                #expect(made.status == 200, "\(made)")
                #expect(made.json["user"]["name"] == "Ann")
                #expect(made.json["session"]["device_name"] == "phone")
                // The account exists now, so the device name in a stranger's registration has no effect.
                #expect(try await connection.post("/v1/auth/register", strange).status == 202)
                let third = try #require(try await relay.mail(to: ann, count: 3).code)
                let again = try await connection.post(
                    "/v1/auth/login", ["email": .string(ann), "code": .string(third)])
                #expect(
                    again.json["user"]["name"] == "Ann" && again.json["session"]["device_name"] == .null, "\(again)")
            }
            try await node.stop()
        }
    }
}

extension TestRelay {
    /// A node's settings for sending mail through this relay.
    fileprivate var settings: [String: String] {
        [
            "PARLEY_SMTP_URL": "smtp://parley:s3cret%40%3A%2F@127.0.0.1:\(ports.startTLS)?starttls=required",
            "PARLEY_MAIL_FROM": "chat@parley.example", "PARLEY_CA_FILE": certificate,
        ]
    }
}
