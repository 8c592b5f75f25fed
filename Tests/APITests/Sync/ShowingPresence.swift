// The answers that show presence, and the people who see it.
import Domain
import TestSupport
import Testing

@Suite("Presence", .timeLimit(.minutes(1)))
struct ShowingPresence {
    /// A group of Ann's with Bob, Cleo invited to it, and a stranger. Bob polls somewhere.
    private static func people() async throws -> (ann: Person, bob: Person, cleo: Person, eve: Person, thread: String) {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let (cleo, eve) = (try await Person.make("Cleo"), try await Person.make("Eve"))
        let thread = try await ann.group(with: [bob])
        let invited = try await ann.client.put("/v1/threads/\(thread)/members/\(cleo.id)", #"{"status":"invited"}"#)
        #expect(invited.status == 200 && invited["user.presence"] == .null)
        _ = try await Psql.run(
            "insert into presence (user_id, node) values ('\(bob.id)', 'elsewhere')",
            conninfo: TestNode.shared().database)
        return (ann, bob, cleo, eve, thread)
    }

    private static func hide(_ person: Person, _ isHidden: Bool) async throws {
        let body = #"{"preferences":{"share_presence":\#(!isHidden)}}"#
        #expect(try await person.client.patch("/v1/users/me", body).status == 200)
    }

    @Test("is visible to members of a shared thread, for those who joined and share it")
    func members() async throws {
        let (ann, bob, cleo, _, thread) = try await Self.people()
        func seen(by person: Person) async throws -> [String: [JSONValue?]] {
            let members = try await person.client.get("/v1/threads/\(thread)/members")["members"]?.array ?? []
            let users = members.compactMap { $0["user"] }
            return Dictionary(
                uniqueKeysWithValues: users.map {
                    ($0["id"]?.string ?? "", [$0["presence"], .bool($0["last_seen_at"]?.string != nil)])
                })
        }
        for viewer in [ann, bob] {
            let found = try await seen(by: viewer)
            #expect(found[bob.id] == [.string("online"), .bool(false)])
            #expect(found[ann.id] == [.string("offline"), .bool(true)])
            #expect(found[cleo.id] == [.null, .bool(false)])
        }
        let put = try await ann.client.put("/v1/threads/\(thread)/members/\(bob.id)", #"{"role":"admin"}"#)
        #expect(try put.string("user.presence") == "online")
        try await Self.hide(bob, true)
        #expect(try await seen(by: ann)[bob.id] == [.null, .bool(false)])
        try await Self.hide(bob, false)
        #expect(try await seen(by: ann)[bob.id] == [.string("online"), .bool(false)])
    }

    @Test("is in a profile for people who share a thread, and in the caller's own account as others see it")
    func profiles() async throws {
        let (ann, bob, cleo, eve, _) = try await Self.people()
        let path = "/v1/users/\(bob.id)"
        #expect(try await ann.client.get(path).string("presence") == "online")
        for stranger in [cleo, eve] { #expect(try await stranger.client.get(path)["presence"] == .null) }
        #expect(try await bob.client.get("/v1/users/me").string("presence") == "online")
        #expect(try await ann.client.get("/v1/users/me").string("last_seen_at") != "")
        let changed = try await bob.client.patch("/v1/users/me", #"{"status_text":"here"}"#)
        #expect(try changed.string("presence") == "online")
        try await Self.hide(bob, true)
        for viewer in [ann, bob] { #expect(try await viewer.client.get(path)["presence"] == .null) }
        #expect(try await bob.client.get("/v1/users/me")["presence"] == .null)
    }

    @Test("is in the directory for the caller and for people with a direct thread to the caller")
    func directory() async throws {
        let (ann, bob, _, _, _) = try await Self.people()
        func found(_ person: Person, by viewer: Person) async throws -> JSONValue? {
            let reply = try await viewer.client.get("/v1/users?query=\(person.username)")
            #expect(reply["users"]?.array?.count == 1)
            return reply["users.0.presence"]
        }
        #expect(try await found(bob, by: ann) == .null)
        #expect(try await found(bob, by: bob) == .string("online"))
        let body = #"{"kind":"direct","members":["\#(bob.id)"],"invite":true}"#
        let direct = try await ann.client.post("/v1/threads", body).string("id")
        // An invited person does not count as a member.
        #expect(try await found(bob, by: ann) == .null)
        let accepted = try await bob.client.put("/v1/threads/\(direct)/members/me", #"{"status":"joined"}"#)
        #expect(try accepted.string("user.presence") == "online")
        #expect(try await found(bob, by: ann) == .string("online"))
        #expect(try await found(ann, by: bob) == .string("offline"))
        try await Self.hide(bob, true)
        #expect(try await found(bob, by: ann) == .null)
    }

    @Test("is stored in no event")
    func events() async throws {
        let (ann, bob, _, _, thread) = try await Self.people()
        let cursor = try await ann.client.get("/v1/inbox").string("cursor")
        _ = try await ann.client.put("/v1/threads/\(thread)/members/\(bob.id)", #"{"role":"admin"}"#)
        _ = try await bob.client.patch("/v1/users/me", #"{"status_text":"away"}"#)
        _ = try await ann.client.patch("/v1/users/me", #"{"status_text":"away"}"#)
        _ = try await ann.group(with: [bob])
        let reply = try await ann.client.get("/v1/sync?cursor=\(cursor)&wait=0")
        let types = reply["events"]?.array?.compactMap { $0["type"]?.string } ?? []
        #expect(types == ["member.updated", "user.updated", "user.updated", "user.updated", "thread.created"])
        #expect(!reply.text.contains(#""online""#) && !reply.text.contains(#""offline""#))
    }
}
