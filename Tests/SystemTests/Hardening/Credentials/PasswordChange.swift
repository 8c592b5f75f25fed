// A password change on two nodes: which devices stay signed in.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("A password change", .timeLimit(.minutes(2)))
    struct PasswordChange {
        @Test("signs out other devices and their polls on both nodes, and ends the old password")
        func endsOthers() async throws {
            let nodes = try await TestNodes.shared()
            let ann = try await nodes.a.client.register("Ann")
            let (here, there) = (try await nodes.a.client.logIn(again: ann), try await nodes.b.client.logIn(again: ann))
            let cursor = try await nodes.b.client.cursor(of: there)
            async let poll = nodes.b.client.sync(there, from: cursor, wait: 25)
            try await nodes.b.waitForPolls()
            let connections = nodes.addresses.map { Connection($0) }
            for connection in connections { #expect(try await connection.get("/v1/users/me", as: here).status == 200) }

            let change: JSON = ["current": .string(ann.password), "new": "correct battery"]
            let answer = try await connections[0].put("/v1/users/me/password", change, as: ann)
            #expect(answer.status == 204, "\(answer)")
            let told = try await poll
            #expect(told.status == 401 || told.json["events"][0]["type"] == "session.revoked", "\(told)")
            for connection in connections {
                for device in [here, there] {
                    #expect(try await connection.get("/v1/users/me", as: device).status == 401)
                }
            }
            for connection in connections { #expect(try await connection.get("/v1/users/me", as: ann).status == 200) }

            for (password, status) in [(ann.password, 401), ("correct battery", 200)] {
                let body: JSON = ["username": .string(ann.username), "password": .string(password)]
                #expect(try await connections[1].post("/v1/auth/login", body).status == status)
            }
        }
    }
}
