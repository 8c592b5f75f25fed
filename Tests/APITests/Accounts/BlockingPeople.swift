// Blocks as clients see them. docs/access.md and AccessByRole list what a block refuses, call by call.
import Domain
import TestSupport
import Testing

@Suite("Blocking people", .timeLimit(.minutes(1)))
struct BlockingPeople {
    private static func pair() async throws -> (ann: Person, bob: Person) {
        (try await .make("Ann"), try await .make("Bob"))
    }

    private static func block(_ other: Person, by person: Person) async throws {
        #expect(try await person.client.put("/v1/users/me/blocks/\(other.id)").status == 204)
    }

    private static func unblock(_ other: Person, by person: Person) async throws {
        #expect(try await person.client.delete("/v1/users/me/blocks/\(other.id)").status == 204)
    }

    @Test("lists blocked people in pages, the latest first, each once")
    func lists() async throws {
        let ann = try await Person.make("Ann")
        var blocked: [String] = []
        for _ in 0..<5 {
            let other = try await Person.make()
            try await Self.block(other, by: ann)
            try await Self.block(other, by: ann)
            blocked.insert(other.id, at: 0)
        }
        var found: [String] = []
        var path = "/v1/users/me/blocks?limit=2"
        for pageSize in [2, 2, 1] {
            let page = try await ann.client.get(path)
            let blocks = page["blocks"]?.array ?? []
            #expect(blocks.count == pageSize)
            found += blocks.compactMap { $0["user"]?["id"]?.string }
            path = "/v1/users/me/blocks?limit=2&page=\(page["next"]?.string ?? "")"
        }
        #expect(found == blocked)
        #expect(path.hasSuffix("page="))
        let last = blocked.removeFirst()
        for _ in 0..<2 { #expect(try await ann.client.delete("/v1/users/me/blocks/\(last)").status == 204) }
        let left = try await ann.client.get("/v1/users/me/blocks")["blocks"]?.array ?? []
        #expect(left.compactMap { $0["user"]?["id"]?.string } == blocked)
    }

    @Test("refuses to block the caller or an unknown user", arguments: ["PUT", "DELETE"])
    func refuses(_ method: String) async throws {
        let ann = try await Person.make("Ann")
        for me in ["me", ann.id] {
            let reply = try await ann.client.send(method, "/v1/users/me/blocks/\(me)")
            #expect(reply.status == 422 && reply.errorFields == ["user_id"])
        }
        for nobody in [UserID.make().description, "x"] {
            #expect(
                try await ann.client.send(method, "/v1/users/me/blocks/\(nobody)").problemCode == "user_not_found")
        }
        #expect(try await ann.client.put("/v1/users/me/blocks/\(ann.id)", #"{"why":1}"#).errorFields == ["why"])
    }

    @Test("applies in one direction, and ends with unblocking; a retry of a stored message still succeeds")
    func goesOneWay() async throws {
        let (ann, bob) = try await Self.pair()
        try await Self.block(bob, by: ann)
        let direct = #"{"kind":"direct","members":["\#(ann.id)"]}"#
        #expect(try await bob.client.post("/v1/threads", direct).problemCode == "not_reachable")
        #expect(try await bob.client.get("/v1/inbox")["threads"] == .array([]))
        // A thread opened after the block behaves like one opened before it.
        let thread = try await ann.direct(with: bob)
        try await ann.say("hello", in: thread)
        let message = #"{"id":"\#(MessageID.make())","payload":{"text":"hi"}}"#
        let path = "/v1/threads/\(thread)/messages"
        #expect(try await bob.client.post(path, message).problemCode == "not_reachable")
        #expect(try await bob.client.post("/v1/threads", direct).problemCode == "not_reachable")
        try await Self.unblock(bob, by: ann)
        #expect(try await bob.client.post(path, message).status == 201)
        #expect(try await bob.client.post("/v1/threads", direct).status == 200)
        try await Self.block(bob, by: ann)
        #expect(try await bob.client.post(path, message).status == 200)
        #expect(try await bob.client.post(path, #"{"payload":{"text":"again"}}"#).problemCode == "not_reachable")
        #expect(try await ann.client.get(path)["head"]?.integer == 2)
    }

    @Test("allows earlier invitations only to be declined, and no invitation in return")
    func invitations() async throws {
        let (ann, bob) = try await Self.pair()
        let direct = #"{"kind":"direct","members":["\#(bob.id)"],"invite":true}"#
        let thread = try await ann.client.post("/v1/threads", direct).string("id")
        let members = "/v1/threads/\(thread)/members"
        try await Self.block(bob, by: ann)
        #expect(
            try await bob.client.put("\(members)/me", #"{"status":"joined"}"#).problemCode == "not_reachable")
        #expect(try await bob.client.delete("\(members)/me").status == 204)
        let opening = #"{"kind":"direct","members":["\#(ann.id)"]}"#
        #expect(try await bob.client.post("/v1/threads", opening).problemCode == "not_reachable")
        // A person who declined cannot be invited again by people whom they block.
        try await Self.unblock(bob, by: ann)
        try await Self.block(ann, by: bob)
        let again = try await ann.client.put("\(members)/\(bob.id)", #"{"status":"invited"}"#)
        #expect(again.problemCode == "not_reachable")
        try await Self.unblock(ann, by: bob)
        #expect(try await ann.client.put("\(members)/\(bob.id)", #"{"status":"invited"}"#).status == 200)
    }

    @Test("keeps people from adding each other to groups, but not from groups they share already")
    func groups() async throws {
        let (ann, bob) = try await Self.pair()
        let standing = try await bob.group(with: [ann])
        let other = try await bob.group()
        try await Self.block(bob, by: ann)
        for body in ["", #"{"status":"invited"}"#] {
            let reply = try await bob.client.put("/v1/threads/\(other)/members/\(ann.id)", body)
            #expect(reply.problemCode == "not_reachable")
        }
        let both = #"{"kind":"group","members":["\#(ann.id)"]}"#
        #expect(try await bob.client.post("/v1/threads", both).problemCode == "not_reachable")
        try await bob.say("still here", in: standing)
        let promoted = try await bob.client.put(
            "/v1/threads/\(standing)/members/\(ann.id)", #"{"role":"admin"}"#)
        #expect(promoted.status == 200)
        #expect(try await ann.group(with: [bob]).isEmpty == false)
    }

    @Test("notifies the caller's own devices and no other person")
    func tellsOwnDevices() async throws {
        let (ann, bob) = try await Self.pair()
        _ = try await ann.direct(with: bob)
        let cursors = (
            try await ann.client.get("/v1/sync?wait=0").string("cursor"),
            try await bob.client.get("/v1/sync?wait=0").string("cursor")
        )
        try await Self.block(bob, by: ann)
        try await Self.block(bob, by: ann)
        try await Self.unblock(bob, by: ann)
        let events = try await ann.client.get("/v1/sync?wait=0&cursor=\(cursors.0)")["events"]?.array ?? []
        #expect(events.map { $0["type"]?.string } == ["settings.updated", "settings.updated"])
        #expect(events.map { $0["data"]?["block"]?["user_id"]?.string } == [bob.id, bob.id])
        #expect(events.map { $0["data"]?["block"]?["blocked"] } == [.bool(true), .bool(false)])
        #expect(events.allSatisfy { $0["thread_id"] == nil })
        #expect(try await bob.client.get("/v1/sync?wait=0&cursor=\(cursors.1)")["events"] == .array([]))
    }

    @Test("hides the caller's presence from the blocked person, but not the profile")
    func hidesPresence() async throws {
        let (ann, bob) = try await Self.pair()
        let thread = try await bob.direct(with: ann)
        func shown(_ person: Person, to viewer: Person) async throws -> [String?] {
            let found = try await viewer.client.get("/v1/users?query=\(person.username)")
            let members = try await viewer.client.get("/v1/threads/\(thread)/members")["members"]?.array ?? []
            return [
                try await viewer.client.get("/v1/users/\(person.id)")["presence"]?.string,
                try await viewer.client.get("/v1/threads/\(thread)")["peer.presence"]?.string,
                found["users.0.presence"]?.string,
                members.first { $0["user"]?["id"]?.string == person.id }?["user"]?["presence"]?.string,
            ]
        }
        #expect(try await shown(ann, to: bob) == ["offline", "offline", "offline", "offline"])
        try await Self.block(bob, by: ann)
        #expect(try await shown(ann, to: bob) == [nil, nil, nil, nil])
        #expect(try await shown(bob, to: ann) == ["offline", "offline", "offline", "offline"])
        #expect(try await bob.client.get("/v1/users?query=\(ann.username)").string("users.0.id") == ann.id)
        for person in [ann, bob] { #expect(try await person.client.put("/v1/threads/\(thread)/typing").status == 204) }
        try await Self.unblock(bob, by: ann)
        #expect(try await shown(ann, to: bob) == ["offline", "offline", "offline", "offline"])
    }
}
