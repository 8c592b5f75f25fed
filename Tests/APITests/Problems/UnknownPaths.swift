// Paths and query parameters outside the contract.
import Testing

@Suite("An unknown path or parameter", .timeLimit(.minutes(1)))
struct UnknownPaths {
    private let stage: ProblemStage

    init() async throws { stage = try await ProblemStage() }

    private func get(
        _ path: String, field: String, sourceLocation: SourceLocation = #_sourceLocation
    ) -> BadRequest {
        BadRequest("GET", path, [422], code: "invalid", field: field, as: stage.ann, sourceLocation: sourceLocation)
    }

    @Test("of a list: the problem names a bad limit or page")
    func lists() async throws {
        let lists = ["/v1/inbox?", "\(stage.path)/members?", "/v1/sessions?", "/v1/users?query=a&"]
        let limits = ["0", "201", "x", "-1", "", "1.5", "99999999999999999999", "1e2", "%31%00"]
        let pages = ["x", "AAAA", String(repeating: "A", count: 600), "%00"]
        try await BadRequest.expect(
            (lists + ["\(stage.messages)?"]).flatMap { list in limits.map { get("\(list)limit=\($0)", field: "limit") }
            }
                + lists.flatMap { list in pages.map { get("\(list)page=\($0)", field: "page") } })
    }

    @Test("of a poll or of the history: the problem names a bad cursor, wait or bound")
    func bounds() async throws {
        let cursors = ["x", "0", "AAAA", "%00", "%ff"] + [2_048, 2_049].map { String(repeating: "A", count: $0) }
        let cursor = try await stage.ann.client.get("/v1/sync").string("cursor")
        let parameters = ["wait=-1", "wait=56", "wait=x", "wait=", "limit=0", "limit=x", "wait=1e1"]
        let bounds = ["x", "-1", "99999999999999999999", "2026-13-40T00:00:00Z", unknownID(), stage.directMessage, ""]
        var requests = cursors.map { BadRequest("GET", "/v1/sync?cursor=\($0)", [400, 422], as: stage.ann) }
        for parameter in parameters {
            let name = String(parameter.prefix { $0 != "=" })
            requests.append(get("/v1/sync?cursor=\(cursor)&\(parameter)", field: name))
        }
        for bound in bounds {
            for name in ["before", "after"] { requests.append(get("\(stage.messages)?\(name)=\(bound)", field: name)) }
        }
        requests.append(get("/v1/inbox?unread=maybe", field: "unread"))
        requests.append(get("/v1/users/me?x=1", field: "x"))
        requests.append(get("/v1/inbox?Limit=1", field: "Limit"))
        requests.append(get("/v1/sessions?limit=1&limit=2", field: "limit"))
        for query in ["%zz", "%00"] { requests.append(get("/v1/rooms?query=\(query)", field: "query")) }
        requests.append(
            BadRequest("DELETE", stage.message + "?for=nobody", [422], field: "for", as: stage.ann))
        try await BadRequest.expect(requests)
    }

    @Test("of a resource that does not exist gets 404")
    func resources() async throws {
        let ann = stage.ann
        let session = try await stage.bob.client.get("/v1/sessions").string("sessions.0.id")
        let paths = [
            "/nope", "/v1/nope", "/v1/inbox/x", "/v1/threads/x", "/v1/threads/x/messages", "/v1/users/x",
            "/v1/users/\(unknownID())", "/v1/threads/\(unknownID())", "\(stage.messages)/x",
            "\(stage.messages)/\(unknownID())", "\(stage.messages)/\(stage.directMessage)", "\(stage.path)/nope",
        ]
        try await BadRequest.expect(
            paths.map { BadRequest("GET", $0, [404], as: ann) } + [
                BadRequest("DELETE", "/v1/sessions/\(session)", [404], code: "session_not_found", as: ann),
                BadRequest("DELETE", "/v1/sessions/x", [404], as: ann),
                BadRequest("PUT", "\(stage.path)/members/\(unknownID())", [404], as: ann, "{}"),
                BadRequest("DELETE", "\(stage.path)/members/\(stage.eve.id)", [404], as: ann),
                BadRequest("PUT", "/v1/inbox/", [404], code: "not_found", as: ann),
            ])
    }

    @Test("in another spelling than the contract's gets 404: paths match byte for byte")
    func spellings() async throws {
        let paths = [
            "/v1/threads/%2e%2e/x", "/v1/users/%00", "/v1/users/%ff", "\(stage.path)%00/messages", "/../etc/passwd",
            "/v1//sync", "/v1%2finbox", "/v1/%69nbox%00", "/v1/inbox%2f", "/v1/inbox%c0%af", "/v1/%2569nbox",
            "/v1/users/%252e%252e", "/v1/threads/%c0%ae%c0%ae/messages", "/v1/threads/..%2f..%2finbox", "/v1/inbox/",
            "/v1/inbox;", "/v1/inbox;a=b", "/V1/inbox", "/v1/s%79nc", "/health/live/", "/metrics;a",
            "/" + String(repeating: "a/", count: 8_000), "/v1", "/v1/", "/v2/users/me", "/%2e%2e/etc/passwd", "/v1//",
            "/v1/sync/x", "/health", "/v1/users/me/", "/v1/users//me", "//v1/users/me", "/v1/users/", "/v1/users/m%65",
            "/v1/%75sers/me", "/v1/users/me;x", "/v1;a=b/users/me", "/v1/sync/", "//v1/sync", "/v1/sync;x", "/metrics/",
            "/metrics//", "//metrics", "/metric%73",
        ]
        try await BadRequest.expect(
            paths.map { BadRequest("GET", $0, [404], as: stage.ann) } + [
                BadRequest("GET", "/v1/users/%zz", [400, 404], as: stage.ann),
                BadRequest("PROPFIND", "/v1/inbox", [405], code: "method_not_allowed", as: stage.ann),
            ])
    }
}
