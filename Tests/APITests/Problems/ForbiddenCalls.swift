// Calls without permission: no token, another person's thread. What each role may do: see AccessByRole.
import Domain
import Testing

@Suite("A caller without permission", .timeLimit(.minutes(1)))
struct ForbiddenCalls {
    private static let check = "/reactions/%E2%9C%85"
    private let stage: ProblemStage

    init() async throws { stage = try await ProblemStage() }

    @Test("gets 401 without a token or with an invalid one")
    func tokens() async throws {
        let gone = try await Person.make("Gone")
        #expect(try await gone.client.post("/v1/auth/logout").status == 204)
        let (token, ended) = (stage.ann.client.token ?? "", gone.client.token ?? "")
        let headers = [
            nil, "Bearer", "Bearer ", "Bearer x", "Basic YTpi", "Bearer \(ended)", "Bearer \(token)x",
            "Bearer \(token.dropLast())", token, "Bearer \(String(repeating: "a", count: 8_000))", "Bearer ü",
            "Bearer a b",
        ]
        let calls = [
            ("GET", "/v1/users/me"), ("GET", "/v1/inbox"), ("GET", "/v1/sync"), ("POST", stage.messages),
            ("PUT", stage.receipts), ("POST", "/v1/auth/logout"), ("GET", stage.path),
        ]
        try await BadRequest.expect(
            headers.flatMap { header in
                calls.map { method, path in
                    BadRequest(
                        method, path, [401], code: header == nil ? "unauthenticated" : "invalid_token",
                        method == "GET" ? nil : "{}", headers: header.map { ["Authorization: \($0)"] } ?? [])
                }
            })
    }

    @Test("cannot distinguish another person's thread from one that does not exist")
    func strangers() async throws {
        let eve = stage.eve
        let message = "/messages/\(stage.groupMessage)"
        let calls: [(String, String, String?)] = [
            ("GET", "", nil), ("GET", "/members", nil), ("GET", "/messages", nil), ("GET", "/messages?after=0", nil),
            ("GET", "/messages?before=\(stage.groupMessage)", nil), ("GET", message, nil),
            ("PUT", "/unread", #"{"from":1}"#), ("PUT", "/typing", "{}"), ("GET", "\(message)/receipts", nil),
            ("DELETE", "\(message)?for=everyone", nil), ("DELETE", "\(message)?for=me", nil),
            ("PATCH", message, #"{"payload":{"text":"hi"}}"#), ("PATCH", message, #"{"payload":{"text":""}}"#),
            ("PUT", message + Self.check, nil), ("DELETE", message + Self.check, nil),
            ("POST", "/messages", #"{"payload":{"text":"hi"}}"#),
            ("POST", "/messages", #"{"payload":{"text":"hi"},"reply_to":"\#(stage.groupMessage)"}"#),
            ("POST", "/messages", #"{"id":"\#(stage.groupMessage)","payload":{"text":"in the group"}}"#),
            ("PUT", "/receipts", #"{"read":1}"#), ("PUT", "/receipts", #"{"read":1000}"#),
            ("PUT", "/members/me", #"{"status":"joined"}"#), ("PUT", "/members/\(eve.id)", "{}"),
            ("DELETE", "/members/me", nil), ("DELETE", "/members/\(stage.bob.id)", nil),
        ]
        let cursor = try await eve.client.get("/v1/sync").string("cursor")
        for (method, path, body) in calls {
            var texts: [String] = []
            for thread in [stage.group, unknownID()] {
                let call = BadRequest(
                    method, "/v1/threads/\(thread)\(path)", [404], code: "thread_not_found", as: eve, body)
                texts.append(try await call.expect().text)
            }
            #expect(texts[0] == texts[1], "\(method) \(path)")
        }
        // The next event of Eve's is the next thing that concerns her.
        let own = try await eve.group()
        #expect(try await events(of: eve, after: cursor) == ["thread.created \(own)"])
    }

    /// The next events of a person, each as its type and thread.
    private func events(of person: Person, after cursor: String) async throws -> [String] {
        let reply = try await person.client.get("/v1/sync?wait=20&cursor=\(cursor)")
        return reply["events"]?.array?.map { "\($0["type"]?.string ?? "") \($0["thread_id"]?.string ?? "")" } ?? []
    }

    @Test("sees an invitation, but nothing in the thread until it is accepted")
    func invited() async throws {
        let ivy = stage.ivy
        let inbox = try await ivy.client.get("/v1/inbox")
        #expect(inbox["threads.0.id"]?.string == stage.group && inbox["threads.0.me.status"]?.string == "invited")
        #expect(inbox["threads.0.last_message"] == .null || inbox["threads.0.last_message"] == nil)
        try await BadRequest("GET", stage.message + "/receipts", [403], code: "not_joined", as: ivy).expect()
        #expect(try await ivy.client.put("\(stage.path)/members/me", #"{"status":"joined"}"#).status == 200)
        try await ivy.say("hello", in: stage.group)
    }

    @Test("cannot read or write after leaving, and receives no event of the thread")
    func left() async throws {
        let (ann, bob) = (stage.ann, stage.bob)
        #expect(try await bob.client.delete("\(stage.path)/members/me").status == 204)
        try await BadRequest.expect([
            BadRequest("GET", stage.path, [404], code: "thread_not_found", as: bob),
            BadRequest("GET", stage.messages, [404], code: "thread_not_found", as: bob),
            BadRequest("POST", stage.messages, [404], as: bob, #"{"payload":{"text":"hi"}}"#),
            BadRequest("PUT", stage.message + Self.check, [404], as: bob),
            BadRequest("DELETE", stage.message + "?for=me", [404], as: bob),
            BadRequest("PUT", "\(stage.path)/members/me", [404], as: bob, #"{"status":"joined"}"#),
        ])
        let cursor = try await bob.client.get("/v1/sync").string("cursor")
        try await ann.say("without Bob", in: stage.group)
        // Events are in order, so the message of the group would come first.
        try await ann.say("to Bob", in: stage.direct)
        #expect(try await events(of: bob, after: cursor) == ["message.created \(stage.direct)"])
    }
}
