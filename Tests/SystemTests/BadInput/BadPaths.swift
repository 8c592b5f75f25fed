// Paths, parameters and methods outside the contract.

import Foundation
import Testing

extension SystemTests {
    @Suite("An unknown path, parameter or method")
    struct BadPaths {
        let stage: Stage

        init() async throws {
            stage = try await Stage.set()
        }

        @Test("the problem names a bad limit, page, cursor, wait or bound")
        func parameters() async throws {
            let lists = [
                "/v1/inbox", stage.messages, "/v1/threads/\(stage.group)/members", "/v1/sessions", "/v1/users?query=a",
            ]
            let limits = ["0", "201", "x", "-1", "", "1.5", "99999999999999999999", "1e2", "%31%00"]
            var refusals: [Refusal] = []
            for list in lists {
                let mark = list.contains("?") ? "&" : "?"
                for limit in limits {
                    refusals.append(
                        Refusal("GET", "\(list)\(mark)limit=\(limit)", [422], field: "limit", as: stage.ann))
                }
                if list == stage.messages { continue }
                for page in ["x", "AAAA", String(repeating: "A", count: 600), "%00"] {
                    refusals.append(Refusal("GET", "\(list)\(mark)page=\(page)", [422], field: "page", as: stage.ann))
                }
            }
            let lengths = [2_048, 2_049].map { String(repeating: "A", count: $0) }
            for cursor in ["x", "0", "AAAA", "%00", "%ff"] + lengths {
                refusals.append(Refusal("GET", "/v1/sync?cursor=\(cursor)", [400, 422], as: stage.ann))
            }
            let cursor = try await stage.node.curl.cursor(of: stage.ann)
            for parameter in ["wait=-1", "wait=56", "wait=x", "wait=", "limit=0", "limit=x", "wait=1e1"] {
                let field = String(parameter.prefix { $0 != "=" })
                let path = "/v1/sync?cursor=\(cursor)&\(parameter)"
                refusals.append(Refusal("GET", path, [422], field: field, as: stage.ann))
            }
            for bound in ["x", "-1", "99999999999999999999", "2026-13-40T00:00:00Z", newID(), stage.directMessage, ""] {
                for name in ["before", "after"] {
                    let path = "\(stage.messages)?\(name)=\(bound)"
                    refusals.append(Refusal("GET", path, [422], field: name, as: stage.ann))
                }
            }
            refusals.append(Refusal("GET", "/v1/inbox?unread=maybe", [422], field: "unread", as: stage.ann))
            let message = "\(stage.messages)/\(stage.groupMessage)"
            refusals.append(Refusal("DELETE", message + "?for=nobody", [422], field: "for", as: stage.ann))
            try await Refusal.expect(refusals, from: stage.node)
        }

        @Test("an unknown path is answered 404")
        func paths() async throws {
            let paths = [
                "/nope", "/v1", "/v1/", "/v1/nope", "/v2/inbox", "/v1/inbox/x", "/v1/threads/x",
                "/v1/threads/x/messages",
                "/v1/users/x", "/v1/users/\(newID())", "/v1/threads/\(newID())", "\(stage.messages)/x",
                "\(stage.messages)/\(newID())", "\(stage.messages)/\(stage.directMessage)",
                "/v1/threads/\(stage.group)/nope", "/v1/threads/%2e%2e/x", "/v1/users/%00", "/v1/users/%ff",
                "/v1/threads/\(stage.group)%00/messages", "/../etc/passwd", "/v1//sync", "/v1/sync/",
                "//v1/sync", "/v1%2finbox", "/v1/%69nbox%00", "/v1/inbox%2f", "/v1/inbox%c0%af", "/v1/%2569nbox",
                "/v1/users/%252e%252e", "/v1/threads/%c0%ae%c0%ae/messages", "/v1/threads/..%2f..%2finbox",
            ]
            try await Refusal.expect(paths.map { Refusal("GET", $0, [404], as: stage.ann) }, from: stage.node)
            try await Refusal.expect(
                [
                    Refusal("GET", "/v1/users/%zz", [400, 404], as: stage.ann),
                    Refusal(
                        "DELETE", "/v1/sessions/\(stage.bob.session)", [404], code: "session_not_found", as: stage.ann),
                    Refusal("DELETE", "/v1/sessions/x", [404], as: stage.ann),
                    Refusal("PUT", "/v1/threads/\(stage.group)/members/\(newID())", [404], as: stage.ann, json: [:]),
                    Refusal("DELETE", "/v1/threads/\(stage.group)/members/\(stage.eve.id)", [404], as: stage.ann),
                ], from: stage.node)
        }

        @Test(
            "an unknown method is answered 405 with the allowed methods in Allow",
            arguments: [
                ("PATCH", "/v1/inbox", ["GET"]), ("DELETE", "/v1/auth/login", ["POST"]),
                ("GET", "/v1/auth/register", ["POST"]),
                ("POST", "/v1/sync", ["GET"]), ("PUT", "/v1/users/me", ["GET", "PATCH"]),
                ("POST", "/health/ready", ["GET"]),
                ("DELETE", "/v1/threads", ["POST"]), ("PROPFIND", "/v1/inbox", ["GET"]),
            ])
        func methods(method: String, path: String, allowed: [String]) async throws {
            let refusal = Refusal(method, path, [405], code: "method_not_allowed", as: stage.ann)
            let answer = try await stage.node.curl.send(refusal.request)
            refusal.check(answer, from: stage.node)
            let allow =
                answer.headers["allow"]?.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) } ?? []
            #expect(Set(allow).isSuperset(of: allowed), "\(answer)")
            #expect(!allow.contains(method))
        }
    }
}
