// Calls without permission: no token, another person's thread, another person's message.

import Foundation
import Testing

extension SystemTests {
    @Suite("A caller without permission")
    struct ForbiddenCalls {
        let stage: Stage

        init() async throws {
            stage = try await Stage.set()
        }

        @Test("gets 401 without a token or with an invalid one")
        func tokens() async throws {
            let gone = try await stage.node.curl.register("Gone")
            #expect(try await stage.node.curl.call("POST", "/v1/auth/logout", as: gone).status == 204)
            let headers = [
                [], ["Bearer"], ["Bearer "], ["Bearer x"], ["Basic YTpi"], ["Bearer \(gone.token)"],
                ["Bearer \(stage.ann.token)x"], ["Bearer \(stage.ann.token.dropLast())"], ["\(stage.ann.token)"],
                ["Bearer \(String(repeating: "a", count: 8_000))"], ["Bearer ü"], ["Bearer a b"],
            ]
            let calls = [
                ("GET", "/v1/users/me"), ("GET", "/v1/inbox"), ("GET", "/v1/sync"), ("POST", stage.messages),
                ("PUT", stage.receipts), ("POST", "/v1/auth/logout"), ("GET", "/v1/threads/\(stage.group)"),
            ]
            let refusals = headers.flatMap { header in
                calls.map { method, path in
                    Refusal(
                        method, path, [401], code: header.isEmpty ? "unauthenticated" : "invalid_token",
                        raw: method == "GET" ? nil : Data("{}".utf8),
                        headers: header.map { (name: "Authorization", value: $0) })
                }
            }
            try await Refusal.expect(refusals, from: stage.node)
        }

        @Test("gets the same answer for a wrong name and for a wrong password")
        func credentials() async throws {
            let wrong: JSON = ["username": .string(stage.ann.username), "password": "correct cow"]
            let unknown: JSON = ["username": .string(unique("nobody")), "password": "correct cow"]
            try await Refusal.expect(
                [wrong, unknown].map { Refusal("POST", "/v1/auth/login", [401], code: "wrong_credentials", json: $0) },
                from: stage.node)
            let first = try await stage.node.curl.post("/v1/auth/login", wrong)
            let second = try await stage.node.curl.post("/v1/auth/login", unknown)
            #expect(first.body == second.body)
        }

        @Test("cannot distinguish another person's thread from one that does not exist")
        func strangers() async throws {
            let message = stage.groupMessage
            let calls: [(String, String, JSON?)] = [
                ("GET", "", nil), ("GET", "/members", nil), ("GET", "/messages", nil),
                ("GET", "/messages?after=0", nil),
                ("GET", "/messages?before=\(message)", nil), ("GET", "/messages/\(message)", nil),
                ("PUT", "/unread", ["from": 1]), ("PUT", "/typing", [:]),
                ("GET", "/messages/\(message)/receipts", nil), ("DELETE", "/messages/\(message)?for=everyone", nil),
                ("DELETE", "/messages/\(message)?for=me", nil),
                ("PATCH", "/messages/\(message)", ["payload": ["text": "hi"]]),
                ("PATCH", "/messages/\(message)", ["payload": ["text": ""]]),
                ("PUT", "/messages/\(message)/reactions/%E2%9C%85", nil),
                ("DELETE", "/messages/\(message)/reactions/%E2%9C%85", nil),
                ("POST", "/messages", ["payload": ["text": "hi"]]),
                ("POST", "/messages", ["payload": ["text": "hi"], "reply_to": .string(message)]),
                ("POST", "/messages", ["id": .string(message), "payload": ["text": "in the group"]]),
                ("PUT", "/receipts", ["read": 1]), ("PUT", "/receipts", ["read": 1_000]),
                ("PUT", "/members/me", ["status": "joined"]), ("PUT", "/members/\(stage.eve.id)", [:]),
                ("DELETE", "/members/me", nil), ("DELETE", "/members/\(stage.bob.id)", nil),
            ]
            for (method, path, body) in calls {
                var bodies: [Data] = []
                for thread in [stage.group, newID()] {
                    let refusal = Refusal(method, "/v1/threads/\(thread)\(path)", [404], as: stage.eve, json: body)
                    let answer = try await stage.node.curl.send(refusal.request)
                    refusal.check(answer, from: stage.node)
                    bodies.append(answer.body)
                }
                #expect(bodies[0] == bodies[1], "\(method) \(path)")
            }
            let log = try await stage.node.curl.sync(stage.eve, from: try await stage.node.curl.cursor(of: stage.eve))
            #expect(log.json["events"] == [])
        }

        @Test("sees an invitation, but nothing in the thread until it is accepted")
        func invited() async throws {
            let curl = stage.node.curl
            let path = "/v1/threads/\(stage.group)"
            let inbox = try await curl.get("/v1/inbox", as: stage.ivy).json["threads"][0]
            #expect(inbox["id"].string == stage.group && inbox["me"]["status"] == "invited")
            #expect(inbox["last_message"] == .null)
            let calls: [(String, String, JSON?)] = [
                ("GET", "/messages", nil), ("GET", "/messages/\(stage.groupMessage)", nil),
                ("GET", "/messages/\(stage.groupMessage)/receipts", nil),
                ("POST", "/messages", ["payload": ["text": "hi"]]), ("PUT", "/receipts", ["read": 1]),
                ("PUT", "/members/\(stage.eve.id)", [:]),
                ("DELETE", "/messages/\(stage.groupMessage)?for=everyone", nil),
                ("DELETE", "/messages/\(stage.groupMessage)?for=me", nil),
                ("PATCH", "/messages/\(stage.groupMessage)", ["payload": ["text": "hi"]]),
                ("PUT", "/messages/\(stage.groupMessage)/reactions/%E2%9C%85", nil),
                ("DELETE", "/messages/\(stage.groupMessage)/reactions/%E2%9C%85", nil),
            ]
            let refusals = calls.map {
                Refusal($0.0, path + $0.1, [403], code: "not_joined", as: stage.ivy, json: $0.2)
            }
            try await Refusal.expect(refusals, from: stage.node)
            #expect(try await curl.put(path + "/members/me", ["status": "joined"], as: stage.ivy).status == 200)
            #expect(try await curl.say("hello", in: stage.group, as: stage.ivy).status == 201)
        }

        @Test("cannot break the rules of a thread: its members, its messages, its ids")
        func rules() async throws {
            let group = "/v1/threads/\(stage.group)"
            let direct = "/v1/threads/\(stage.direct)"
            let bob = stage.bob
            let reused: JSON = ["id": .string(stage.groupMessage), "payload": ["text": "in the group"]]
            let changed: JSON = ["id": .string(stage.groupMessage), "payload": ["text": "changed"]]
            try await Refusal.expect(
                [
                    Refusal(
                        "DELETE", group + "/messages/\(stage.groupMessage)?for=everyone", [403], code: "not_allowed",
                        as: bob),
                    Refusal(
                        "PATCH", group + "/messages/\(stage.groupMessage)", [403], code: "not_allowed", as: bob,
                        json: ["payload": ["text": "changed"]]),
                    Refusal("DELETE", group + "/members/\(stage.ann.id)", [403], code: "not_allowed", as: bob),
                    Refusal("PUT", group + "/members/\(stage.eve.id)", [403], code: "not_allowed", as: bob, json: [:]),
                    Refusal("PUT", group + "/members/me", [403], code: "not_allowed", as: bob, json: ["role": "owner"]),
                    Refusal("DELETE", direct + "/members/me", [409], code: "direct_members_fixed", as: bob),
                    Refusal(
                        "PUT", direct + "/members/\(stage.eve.id)", [409], code: "direct_members_fixed", as: stage.ann,
                        json: [:]),
                    Refusal("POST", group + "/messages", [409], code: "id_taken", as: bob, json: reused),
                    Refusal("POST", group + "/messages", [409], code: "id_taken", as: stage.ann, json: changed),
                ], from: stage.node)
            let again = try await stage.node.curl.post(group + "/messages", reused, as: stage.ann)
            #expect(again.status == 200 && again.json["id"].string == stage.groupMessage)
        }

        @Test("cannot read or write after leaving")
        func left() async throws {
            let group = "/v1/threads/\(stage.group)"
            #expect(try await stage.node.curl.delete(group + "/members/me", as: stage.bob).status == 204)
            try await Refusal.expect(
                [
                    Refusal("GET", group, [404], code: "thread_not_found", as: stage.bob),
                    Refusal("GET", group + "/messages", [404], code: "thread_not_found", as: stage.bob),
                    Refusal("POST", group + "/messages", [404], as: stage.bob, json: ["payload": ["text": "hi"]]),
                    Refusal(
                        "PUT", group + "/messages/\(stage.groupMessage)/reactions/%E2%9C%85", [404], as: stage.bob),
                    Refusal("DELETE", group + "/messages/\(stage.groupMessage)?for=me", [404], as: stage.bob),
                    Refusal("PUT", group + "/members/me", [404], as: stage.bob, json: ["status": "joined"]),
                ], from: stage.node)
            let cursor = try await stage.node.curl.cursor(of: stage.bob)
            _ = try await stage.node.curl.sent("without Bob", in: stage.group, as: stage.ann)
            #expect(try await stage.node.curl.sync(stage.bob, from: cursor).json["events"] == [])
        }
    }
}
