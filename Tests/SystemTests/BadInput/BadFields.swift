// JSON bodies with invalid contents: unknown keys, wrong types, missing, too long, out of place.

import Foundation
import Testing

extension SystemTests {
    @Suite("An invalid field")
    struct BadFields {
        let stage: Stage

        init() async throws {
            stage = try await Stage.set()
        }

        private func message(
            _ body: JSON, field: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
        ) -> Refusal {
            Refusal(
                "POST", stage.messages, [422], code: "invalid", field: field, as: stage.ann, json: body,
                sourceLocation: sourceLocation)
        }

        @Test("of a message is named in the problem")
        func messages() async throws {
            let hi: JSON = ["text": "hi"]
            let stranger: JSON = .string(stage.eve.id)
            try await Refusal.expect(
                [
                    message([:], field: "payload"),
                    message(["payload": nil]),
                    message(["payload": "hi"], field: "payload"),
                    message(["payload": []], field: "payload"),
                    message(["payload": [:]], field: "payload.text"),
                    message(["payload": ["text": 1]], field: "payload.text"),
                    message(["payload": ["text": nil]], field: "payload.text"),
                    message(["payload": ["text": ["hi"]]], field: "payload.text"),
                    message(["payload": hi, "paylaod": 1], field: "paylaod"),
                    message(["payload": hi, "reply-to": nil], field: "reply-to"),
                    message(["payload": hi, "id": "1"], field: "id"),
                    message(["payload": hi, "id": 1], field: "id"),
                    message(["payload": hi, "id": "g0000000-0000-0000-0000-000000000000"], field: "id"),
                    message(["payload": hi, "type": 1], field: "type"),
                    message(["payload": hi, "type": "unknown"], field: "type"),
                    message(["payload": hi, "type": "system"], field: "type"),
                    message(["payload": hi, "type": ""], field: "type"),
                    message(["payload": hi, "type": "x-\(String(repeating: "y", count: 1_000))"], field: "type"),
                    message(["payload": hi, "reply_to": "\(newID())"], field: "reply_to"),
                    message(["payload": hi, "reply_to": .string(stage.directMessage)], field: "reply_to"),
                    message(["payload": hi, "reply_to": 1], field: "reply_to"),
                    message(["payload": hi, "mentions": [stranger]], field: "mentions"),
                    message(["payload": hi, "mentions": "all"], field: "mentions"),
                    message(["payload": hi, "mentions": [1]]),
                    message(["payload": hi, "mentions": [nil]]),
                    message(["payload": hi, "expires_in_s": "soon"]),
                    message(["payload": hi, "expires_in_s": -1]),
                    message(["type": "location", "payload": ["latitude": 91, "longitude": 0]]),
                    message(["type": "location", "payload": ["latitude": 1]]),
                    message(["type": "encrypted", "payload": ["ciphertext": "not base64!"]]),
                    message(["type": "encrypted", "payload": [:]]),
                ], from: stage.node)
        }

        @Test("is refused one byte beyond its limit, and accepted at the limit")
        func lengths() async throws {
            let text = { (count: Int) -> JSON in ["payload": ["text": .string(String(repeating: "a", count: count))]] }
            let wide: JSON = ["payload": ["text": .string(String(repeating: "é", count: 8_193))]]
            let title = { (count: Int) -> JSON in
                ["kind": "group", "members": [], "title": .string(String(repeating: "é", count: count))]
            }
            let large: JSON = ["type": "x-large", "payload": ["data": .string(String(repeating: "a", count: 65_536))]]
            try await Refusal.expect(
                [
                    message(text(16_385), field: "payload.text"), message(wide, field: "payload.text"),
                    message(large, field: "payload"),
                    Refusal("POST", "/v1/threads", [422], field: "title", as: stage.ann, json: title(129)),
                ], from: stage.node)
            let curl = stage.node.curl
            #expect(try await curl.post(stage.messages, text(16_384), as: stage.ann).status == 201)
            #expect(try await curl.post("/v1/threads", title(128), as: stage.ann).status == 201)
            let nearly: JSON = ["type": "x-large", "payload": ["data": .string(String(repeating: "a", count: 65_000))]]
            #expect(try await curl.post(stage.messages, nearly, as: stage.ann).status == 201)
        }

        @Test("of a registration is named in the problem")
        func registration() async throws {
            func refusal(
                _ change: [String: JSON], field: String, sourceLocation: SourceLocation = #_sourceLocation
            ) -> Refusal {
                let usual: [String: JSON] = [
                    "username": .string(unique("zed")), "password": "correct horse", "name": "Zed",
                ]
                return Refusal(
                    "POST", "/v1/auth/register", [422], code: "invalid", field: field,
                    json: .object(usual.merging(change) { $1 }), sourceLocation: sourceLocation)
            }
            func missing(_ key: String, sourceLocation: SourceLocation = #_sourceLocation) -> Refusal {
                var body: [String: JSON] = [
                    "username": .string(unique("zed")), "password": "correct horse", "name": "Zed",
                ]
                body[key] = nil
                return Refusal(
                    "POST", "/v1/auth/register", [422], code: "invalid", field: key, json: .object(body),
                    sourceLocation: sourceLocation)
            }
            try await Refusal.expect(
                [
                    missing("username"), missing("password"), missing("name"),
                    refusal(["username": ""], field: "username"), refusal(["username": 1], field: "username"),
                    refusal(["username": "a b"], field: "username"), refusal(["username": "a\u{7}"], field: "username"),
                    refusal(["username": .string(String(repeating: "a", count: 1_000))], field: "username"),
                    refusal(["password": ""], field: "password"), refusal(["password": 12_345_678], field: "password"),
                    refusal(["password": .string(String(repeating: "a", count: 5_000))], field: "password"),
                    refusal(["name": ""], field: "name"), refusal(["name": "  "], field: "name"),
                    refusal(["name": nil], field: "name"),
                    refusal(["name": .string(String(repeating: "a", count: 10_000))], field: "name"),
                    refusal(["admin": true], field: "admin"),
                    refusal(["device_name": 7], field: "device_name"),
                ], from: stage.node)
            let taken: JSON = [
                "username": .string(stage.ann.username.uppercased()), "password": "correct horse", "name": "A",
            ]
            let mail: JSON = ["email": "zed@example.org", "name": "Zed"]
            try await Refusal.expect(
                [
                    Refusal("POST", "/v1/auth/register", [409], code: "username_taken", json: taken),
                    Refusal("POST", "/v1/auth/register", [503], code: "mail_not_configured", json: mail),
                ], from: stage.node)
        }

        @Test("of a thread, a mark, a member or an account is named in the problem")
        func others() async throws {
            let (ann, bob) = (stage.ann, stage.bob)
            func thread(_ body: JSON, field: String, sourceLocation: SourceLocation = #_sourceLocation) -> Refusal {
                Refusal(
                    "POST", "/v1/threads", [422], code: "invalid", field: field, as: ann, json: body,
                    sourceLocation: sourceLocation)
            }
            func mark(_ body: JSON, field: String? = nil, sourceLocation: SourceLocation = #_sourceLocation) -> Refusal
            {
                Refusal(
                    "PUT", stage.receipts, [422], code: "invalid", field: field, as: bob, json: body,
                    sourceLocation: sourceLocation)
            }
            let members = JSON.array((0..<1_001).map { _ in .string(newID()) })
            let member = "/v1/threads/\(stage.group)/members/\(bob.id)"
            try await Refusal.expect(
                [
                    thread(["members": []], field: "kind"),
                    thread(["kind": "party", "members": []], field: "kind"),
                    thread(["kind": "group", "members": "all"], field: "members"),
                    thread(["kind": "group", "members": [.string(newID())]], field: "members"),
                    thread(["kind": "group", "members": members], field: "members"),
                    thread(["kind": "direct", "members": []], field: "members"),
                    thread(["kind": "direct", "members": [.string(ann.id)]], field: "members"),
                    thread(["kind": "direct", "members": [.string(bob.id), .string(stage.eve.id)]], field: "members"),
                    thread(["kind": "group", "members": [], "title": 1], field: "title"),
                    thread(["kind": "group", "members": [], "invite": "yes"], field: "invite"),
                    thread(["kind": "group", "members": [], "colour": "red"], field: "colour"),
                    mark([:]), mark(["read": 2], field: "read"), mark(["delivered": 2], field: "delivered"),
                    mark(["read": 1_000_000], field: "read"), mark(["read": -1], field: "read"),
                    mark(["read": "1"], field: "read"), mark(["read": true], field: "read"),
                    mark(["seen": 1], field: "seen"),
                    Refusal("PUT", member, [422], field: "role", as: ann, json: ["role": "emperor"]),
                    Refusal("PUT", member, [422], field: "status", as: ann, json: ["status": "left"]),
                    Refusal("PUT", member, [422], field: "rank", as: ann, json: ["rank": 1]),
                    Refusal("PATCH", "/v1/users/me", [422], field: "name", as: ann, json: ["name": ""]),
                    Refusal("PATCH", "/v1/users/me", [422], field: "name", as: ann, json: ["name": 1]),
                    Refusal("PATCH", "/v1/users/me", [422], field: "username", as: ann, json: ["username": "other"]),
                    Refusal(
                        "PATCH", "/v1/users/me", [422], field: "preferences", as: ann, json: ["preferences": "all"]),
                ], from: stage.node)
        }
    }
}
