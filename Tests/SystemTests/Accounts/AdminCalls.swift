// The admin API on two nodes, and its absence without a token.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("The admin API on two nodes", .timeLimit(.minutes(3)))
    struct AdminCalls {
        @Test("does not exist unless a token is configured")
        func isOff() async throws {
            let nodes = try await TestNodes.shared()
            for (method, path) in [
                ("GET", "users"), ("DELETE", "users"), ("GET", "changes"), ("GET", "consumers"),
            ] {
                let answer = try await nodes.a.client.call(method, "/v1/admin/\(path)")
                #expect(answer.status == 404 && answer.code == "not_found", "\(answer)")
            }
        }

        @Test("the command line makes the same changes in the database, and running nodes notice them")
        func commandLine() async throws {
            let nodes = try await TestNodes.shared()
            func admin(_ words: String...) async throws -> Parley.Outcome {
                try await Parley.run(["admin"] + words, settings: ["PARLEY_DATABASE_URL": nodes.database])
            }
            let made = try await admin("user", "create", "--name", "Kim", "--username", unique("kim"))
            #expect(made.exit == .status(0), "\(made.errors)")
            let id = try #require(try JSON(parsing: Data(made.output.utf8))["id"].string)
            let issued = try await admin("session", "create", "--user", id, "--device-name", "support")
            let token = try #require(try JSON(parsing: Data(issued.output.utf8))["session"]["token"].string)
            let kim = Person(id: id, username: "", password: "", session: "", token: token)
            #expect(try await nodes.a.client.get("/v1/users/me", as: kim).json["id"].string == id)
            #expect(try await admin("user", "suspend", "--user", id, "--actor", "test").exit == .status(0))
            try await eventually("a dead session") {
                try await nodes.a.client.get("/v1/users/me", as: kim).status == 401
            }
            let refused = try await admin("session", "create", "--user", id)
            #expect(refused.exit == .status(1) && refused.errors.contains("suspended"), "\(refused.errors)")
            let audit = try await admin("audit", "list", "--limit", "1")
            let entry = try JSON(parsing: Data(audit.output.utf8))["entries"][0]
            #expect(entry["action"] == "user.suspend" && entry["actor"] == "test" && entry["user_id"].string == id)
            #expect(try await admin("user", "show", "--user", "x").exit == .status(1))
            let nobody = "01a20606-1460-72f0-b06f-5e68f3439abf"
            let unknown = try await admin("user", "show", "--user", nobody)
            #expect(unknown.exit == .status(1) && unknown.errors.contains("There is no such user (--user \(nobody))"))
            #expect(made.errors.contains("user reset-password") && made.errors.contains(id), "\(made.errors)")
            let nameless = try await admin("user", "create", "--name", "Lee")
            #expect(nameless.errors.contains("session create"), "\(nameless.errors)")
            let reset = try await admin("user", "reset-password", "--user", id)
            #expect(try JSON(parsing: Data(reset.output.utf8))["code"].string?.count == 19)
            let invitation = try await admin("invitation", "create", "--uses", "2")
            let code = try #require(try JSON(parsing: Data(invitation.output.utf8))["code"].string)
            let list = try await admin("invitation", "list")
            #expect(list.output.contains("uses_left") && !list.output.contains(code))
        }

        @Test("a user suspended on one node is signed out on all nodes, waiting poll included")
        func suspends() async throws {
            let token = "a token for the admins"
            let refused = try await Parley.run(["serve"], settings: ["PARLEY_ADMIN_TOKEN": token])
            #expect(refused.exit == .status(2) && !refused.errors.contains(token), "\(refused.errors)")
            let nodes = try await TestNodes.administered()
            let ann = try await nodes.a.client.register("Ann")
            let cursor = try await nodes.b.client.cursor(of: ann)
            async let poll = nodes.b.client.sync(ann, from: cursor, wait: 25)
            try await nodes.b.waitForPolls()
            let answer = try await nodes.a.client.call(
                "PUT", "/v1/admin/users/\(ann.id)/suspension", as: TestNodes.admin)
            #expect(answer.status == 204, "\(answer)")
            try await eventually("a dead session") {
                try await nodes.b.client.get("/v1/users/me", as: ann).status == 401
            }
            #expect(try await [200, 401].contains(poll.status))
            #expect(!nodes.a.program.errors.contains(TestNodes.admin.token))
        }
    }
}
