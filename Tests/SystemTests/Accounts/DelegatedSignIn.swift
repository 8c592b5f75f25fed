// The host app's tokens on two nodes: one account, whichever node sees it first, and key files that change at run time.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Delegated sign-in on two nodes", .timeLimit(.minutes(3)))
    struct DelegatedSignIn {
        @Test("creates one account for concurrent sign-ins on both nodes, and follows changes of the key file")
        func signsIn() async throws {
            let directory = try TemporaryDirectory()
            let path = directory.path + "/jwks.json"
            func write(_ keys: String) throws { try Data(keys.utf8).write(to: URL(filePath: path), options: .atomic) }
            let (old, new) = (try HostApp(.rs256), try HostApp(.edDSA))
            try write(HostApp.keySet(old.key([("kid", "old")])))
            let nodes = try await TestNodes.own(
                on: try await TestCluster.shared(),
                settings: ["PARLEY_JWT_KEYS": path, "PARLEY_JWT_ISSUER": "app", "PARLEY_JWT_AUDIENCE": "chat"])
            let connections = nodes.addresses.map { Connection($0) }
            func signIn(_ app: HostApp, _ subject: String, _ more: String, on node: Int) async throws -> Answer {
                let token = try app.token(of: subject, #","iss":"app","aud":"chat"\#(more)"#)
                return try await connections[node].post("/v1/auth/login", ["token": .string(token)])
            }

            for round in 0..<20 {
                async let first = signIn(old, "user \(round)", #","name":"Ann A""#, on: 0)
                async let second = signIn(old, "user \(round)", #","name":"Ann B""#, on: 1)
                let answers = try await [first, second]
                #expect(answers.map(\.status) == [200, 200], "\(answers)")
                #expect(Set(answers.map { $0.json["user"]["id"] }).count == 1)
            }
            #expect(try await Psql.run("select count(*) from users", conninfo: nodes.database) == "20")

            // A change received by one node reaches clients of the other.
            let ann = try await signIn(old, "user 0", "", on: 1)
            let person = Person(
                id: ann.json["user"]["id"].string ?? "", username: "", password: "", session: "",
                token: ann.json["session"]["token"].string ?? "")
            let cursor = try await connections[1].cursor(of: person)
            async let poll = nodes.b.client.sync(person, from: cursor, wait: 20)
            try await nodes.b.waitForPolls()
            #expect(try await signIn(old, "user 0", #","name":"Ann C""#, on: 0).status == 200)
            #expect(try await poll.json["events"][0]["data"]["name"] == "Ann C")

            let other = try old.token(of: "user 0", #","iss":"app","aud":"shop""#)
            #expect(try await connections[0].post("/v1/auth/login", ["token": .string(other)]).status == 401)

            #expect(try await signIn(new, "user 0", "", on: 0).status == 401)
            try write("not keys")
            #expect(try await signIn(old, "user 0", "", on: 0).status == 200)
            try write(HostApp.keySet(new.key()))
            for node in 0...1 {
                #expect(try await signIn(new, "user 0", "", on: node).status == 200)
                #expect(try await signIn(old, "user 0", "", on: node).code == "wrong_credentials")
            }
            try await eventually("a log line about the broken file") {
                nodes.a.program.errors.contains("cannot read the keys for delegated tokens; keeping the previous keys")
            }
            try await nodes.stop()
        }

        @Test("a node does not start with a key file without keys, and reports why", arguments: ["{}", nil])
        func refusesToStart(_ keys: String?) async throws {
            let directory = try TemporaryDirectory()
            let path = directory.path + "/jwks.json"
            if let keys { try Data(keys.utf8).write(to: URL(filePath: path)) }
            let database = try await TestCluster.shared().createDatabase()
            let outcome = try await Parley.run(
                ["serve"],
                settings: ["PARLEY_DATABASE_URL": database, "PARLEY_JWT_KEYS": path, "PARLEY_HTTP_PORT": "0"])
            #expect(outcome.exit == .status(1))
            #expect(outcome.errors.contains("the keys of PARLEY_JWT_KEYS can't be read from \(path): "))
        }
    }
}
