// Threads and members under the host app's own ids.
import Domain
import TestSupport
import Testing

@Suite("Threads of the host app", .timeLimit(.minutes(1)))
struct HostAppThreads {
    private static func admin() async throws -> Client { try await Client(token: TestNode.adminToken) }

    /// A user with an external id, who is signed in.
    private struct User {
        let external: String
        let id: String
        let client: Client
    }

    private static func user(_ name: String) async throws -> User {
        let (admin, external) = (try await admin(), "u-\(UserID.make())")
        let id = try await admin.put("/v1/admin/users/ext:\(external)", #"{"name":"\#(name)"}"#).string("id")
        let session = try await admin.post("/v1/admin/users/\(id)/sessions")
        return User(external: external, id: id, client: try await Client(token: session.string("session.token")))
    }

    private static func threadID() -> String { "order-\(ThreadID.make())" }

    /// The events that an account gets after a cursor.
    private static func events(_ user: User, after cursor: String) async throws -> [JSONValue] {
        try await user.client.get("/v1/sync?cursor=\(cursor)&wait=5")["events"]?.array ?? []
    }

    private static func cursor(_ user: User) async throws -> String {
        try await user.client.get("/v1/sync").string("cursor")
    }

    @Test("creates a group once, sets what a repetition names, adds whom it lacks, and removes nobody")
    func putsGroups() async throws {
        let admin = try await Self.admin()
        let (ann, ben, cid) = (try await Self.user("Ann"), try await Self.user("Ben"), try await Self.user("Cid"))
        let path = "/v1/admin/threads/ext:\(Self.threadID())"
        let body = """
            {"kind":"group","title":"Order 42","members":[{"user":"ext:\(ann.external)","role":"admin"},{"user":"\(ben.id)"}]}
            """
        let made = try await admin.put(path, body)
        #expect(made.status == 201 && made["title"] == .string("Order 42"), "\(made.text)")
        #expect(made["owners"] == .array([]) && made["member_count"]?.integer == 2)
        let id = try made.string("id")
        #expect(try made.string("external_id") == path.split(separator: ":").last.map(String.init))
        for _ in 0..<2 {
            let again = try await admin.put(path, body)
            #expect(again.status == 200 && again.json == made.json, "\(again.text)")
        }
        #expect(try await ann.client.get("/v1/threads/\(id)")["me.role"] == .string("admin"))
        let cursor = try await Self.cursor(ben)
        let more = """
            {"kind":"group","title":"Order 43","members":[{"user":"\(cid.id)"},{"user":"\(ben.id)","role":"owner"}]}
            """
        let changed = try await admin.put(path, more)
        #expect(changed.status == 200 && changed["member_count"]?.integer == 3, "\(changed.text)")
        #expect(changed["owners"] == .array([.string(ben.id)]) && changed["title"] == .string("Order 43"))
        let types = try await Self.events(ben, after: cursor).map { $0["type"]?.string }
        #expect(types.contains("thread.updated") && types.contains("member.updated"))
        #expect(try await admin.put(path, #"{"kind":"room","title":"x"}"#).problemCode == "thread_kind_differs")
        let audit = try await admin.get("/v1/admin/audit?limit=200")["entries"]?.array ?? []
        let actions = audit.filter { $0["thread_id"]?.string == id }.map { $0["action"]?.string }
        #expect(actions == ["member.put", "member.put", "thread.update", "thread.create"])
    }

    @Test("a direct thread is that of its two people, who may have it already; blocks bind the server there")
    func putsDirectThreads() async throws {
        let admin = try await Self.admin()
        let (ann, ben, cid) = (try await Self.user("Ann"), try await Self.user("Ben"), try await Self.user("Cid"))
        func body(_ one: User, _ other: User) -> String {
            #"{"kind":"direct","members":[{"user":"\#(one.id)"},{"user":"ext:\#(other.external)"}]}"#
        }
        let old = try await ann.client.post("/v1/threads", #"{"kind":"direct","members":["\#(ben.id)"]}"#).string("id")
        let path = "/v1/admin/threads/ext:\(Self.threadID())"
        for _ in 0..<2 {
            let put = try await admin.put(path, body(ben, ann))
            #expect(put.status == 200 && put["id"]?.string == old && put["external_id"]?.string != nil, "\(put.text)")
        }
        let other = "/v1/admin/threads/ext:\(Self.threadID())"
        #expect(try await admin.put(other, body(ann, ben)).problemCode == "external_id_taken")
        #expect(try await admin.post("/v1/admin/threads", body(ann, ben))["id"]?.string == old)
        #expect(try await cid.client.put("/v1/users/me/blocks/\(ann.id)").status == 204)
        for (one, two) in [(ann, cid), (cid, ann)] {
            #expect(try await admin.put(other, body(one, two)).problemCode == "not_reachable")
        }
        #expect(try await admin.get(other).problemCode == "thread_not_found")
        #expect(try await admin.put(path, body(ann, cid)).problemCode == "direct_members_fixed")
        for wrong in [#"{"kind":"direct"}"#, #"{"kind":"direct","members":[{"user":"\#(ann.id)"}]}"#] {
            #expect(try await admin.put(other, wrong).errorFields == ["members"])
        }
    }

    @Test("refuses unknown people and mistakes before anything changes")
    func refusesMistakes() async throws {
        let (admin, ann) = (try await Self.admin(), try await Self.user("Ann"))
        let path = "/v1/admin/threads/ext:\(Self.threadID())"
        for (body, field) in [
            (#"{"kind":"group","members":[{"user":"ext:nobody"}]}"#, "members[0]"),
            (#"{"kind":"group","members":[{"user":"\#(UserID.make())"}]}"#, "members"),
            (#"{"kind":"group","members":[{"user":"\#(ann.id)"},{"user":"ext:\#(ann.external)"}]}"#, "members"),
            (#"{"kind":"group","members":[{"user":"\#(ann.id)","role":"king"}]}"#, "members[0].role"),
            (#"{"title":"x"}"#, "kind"), (#"{"kind":"room"}"#, "title"),
            (#"{"kind":"group","image":"attachment:\#(AttachmentID.make())"}"#, "image"),
        ] {
            let reply = try await admin.put(path, body)
            #expect(reply.status == 422 && reply.errorFields == [field], "\(body): \(reply.text)")
        }
        #expect(try await admin.get(path).problemCode == "thread_not_found")
        #expect(try await admin.put("/v1/admin/threads/\(ThreadID.make())", #"{"kind":"group"}"#).status == 404)
        let group = try await admin.post("/v1/admin/threads", #"{"kind":"group","title":"Old"}"#).string("id")
        let wrong = #"{"kind":"group","title":"New","members":[{"user":"\#(UserID.make())"}]}"#
        #expect(try await admin.put("/v1/admin/threads/\(group)", wrong).status == 422)
        #expect(try await admin.get("/v1/admin/threads/\(group)")["title"] == .string("Old"))
    }

    @Test("finds threads by member, kind and external id")
    func finds() async throws {
        let (admin, ann) = (try await Self.admin(), try await Self.user("Ann"))
        let external = Self.threadID()
        let member = #""members":[{"user":"\#(ann.id)"}]"#
        let first = try await admin.put("/v1/admin/threads/ext:\(external)", #"{"kind":"group",\#(member)}"#)
        let title = "Room \(external)"
        let room = try await admin.post("/v1/admin/threads", #"{"kind":"room","title":"\#(title)",\#(member)}"#)
        let (group, id) = (try first.string("id"), try room.string("id"))
        #expect(
            try await admin.post("/v1/admin/threads", #"{"kind":"room","title":"\#(title)"}"#).problemCode
                == "title_taken")
        for (query, ids) in [
            ("user=ext:\(ann.external)", [id, group]), ("user=\(ann.id)&kind=group", [group]),
            ("external_id=\(external)", [group]), ("external_id=\(external)&kind=room", []),
            ("external_id=\(external)&user=\(ann.id)", [group]),
        ] {
            let found = try await admin.get("/v1/admin/threads?\(query)")["threads"]?.array ?? []
            #expect(found.map { $0["id"]?.string } == ids, "\(query)")
        }
        #expect(try await admin.get("/v1/admin/threads?user=ext:nobody").errorFields == ["user"])
        #expect(try await admin.get("/v1/admin/threads?limit=1")["threads"]?.array?.count == 1)
    }

    @Test("changes a thread and its members in ways that users may not")
    func changesMembers() async throws {
        let admin = try await Self.admin()
        let (ann, ben) = (try await Self.user("Ann"), try await Self.user("Ben"))
        let group = try await ann.client.post("/v1/threads", #"{"kind":"group","title":"Old"}"#).string("id")
        let (path, member) = ("/v1/admin/threads/\(group)", "/v1/admin/threads/\(group)/members/ext:\(ben.external)")
        #expect(try await admin.patch(path, #"{"title":"New"}"#)["title"] == .string("New"))
        #expect(try await admin.put(member)["status"] == .string("joined"))
        // Ben leaves by his own choice: only the server may add him again.
        #expect(try await ben.client.delete("/v1/threads/\(group)/members/me").status == 204)
        #expect(try await ann.client.put("/v1/threads/\(group)/members/\(ben.id)").problemCode == "member_left")
        #expect(try await admin.put(member, #"{"role":"admin"}"#)["role"] == .string("admin"))
        // The server takes the last owner's role, and removes her.
        let owner = "/v1/admin/threads/\(group)/members/\(ann.id)"
        #expect(try await admin.put(owner, #"{"role":"member"}"#)["role"] == .string("member"))
        #expect(try await admin.get(path)["owners"] == .array([]))
        let cursor = try await Self.cursor(ann)
        #expect(try await admin.delete(owner).status == 204)
        #expect(try await admin.delete(owner).problemCode == "member_not_found")
        #expect(try await Self.events(ann, after: cursor).contains { $0["data"]?["status"]?.string == "removed" })
        let members = try await admin.get(path + "/members")["members"]?.array ?? []
        #expect(members.map { $0["status"]?.string } == ["joined", "removed"])
        // An invitation is accepted by the invited person, or by the server.
        #expect(try await admin.put(owner, #"{"status":"invited"}"#)["status"] == .string("invited"))
        #expect(try await admin.put(owner, #"{"status":"joined"}"#)["status"] == .string("joined"))
        let nobody = "/v1/admin/threads/\(group)/members/\(UserID.make())"
        #expect(try await admin.put(nobody).problemCode == "user_not_found")
        #expect(
            try await admin.put("/v1/admin/threads/ext:nothing/members/\(ann.id)").problemCode == "thread_not_found")
        // Parley's own messages name people only: the server is none.
        let history = try await ben.client.get("/v1/threads/\(group)/messages")["messages"]?.array ?? []
        #expect(history.allSatisfy { $0["payload"]?["by"]?["id"]?.string != nil })
    }

    @Test("deletes a thread for everyone, with its messages and files")
    func deletes() async throws {
        let admin = try await Self.admin()
        let (ann, ben) = (try await Self.user("Ann"), try await Self.user("Ben"))
        let group = try await ann.client.post(
            "/v1/threads", #"{"kind":"group","title":"Secret","members":["\#(ben.id)"]}"#
        ).string("id")
        let messages = "/v1/threads/\(group)/messages"
        #expect(try await ann.client.post(messages, #"{"payload":{"text":"hello"}}"#).status == 201)
        let before = try await Self.cursor(ben)
        #expect(try await ann.client.post(messages, #"{"payload":{"text":"again"}}"#).status == 201)
        #expect(try await admin.delete("/v1/admin/threads/\(group)").status == 204)
        #expect(try await admin.delete("/v1/admin/threads/\(group)").problemCode == "thread_not_found")
        for path in ["", "/messages", "/members"] {
            #expect(try await ann.client.get("/v1/threads/\(group)\(path)").problemCode == "thread_not_found")
            #expect(try await admin.get("/v1/admin/threads/\(group)\(path)").problemCode == "thread_not_found")
        }
        #expect(try await ann.client.get("/v1/inbox")["threads"] == .array([]))
        let last = try #require(try await Self.events(ben, after: before).last)
        #expect(last["type"]?.string == "thread.deleted" && last["data"] == .object([.init("id", .string(group))]))
        // What a worker does.
        let node = try await TestNode.shared()
        while try await node.store.sweepErasures(limit: 1) {}
        let left = try await Psql.run(
            """
            select count(*) from messages where thread_id = '\(group)';
            select count(*) from events where thread_id = '\(group)' and body like '%hello%';
            select count(*) from thread_removals where thread_id = '\(group)';
            """, conninfo: node.database)
        #expect(left == "0\n0\n0")
        #expect(try await Self.events(ben, after: before).last?["type"]?.string == "thread.deleted")
    }

    @Test("have the host app's own data and labels, by which they are listed")
    func ownData() async throws {
        let admin = try await Self.admin()
        let ann = try await Self.user("Ann")
        let (path, label) = ("/v1/admin/threads/ext:\(Self.threadID())", "shop-\(ThreadID.make())")
        let body =
            #"{"kind":"group","members":[{"user":"\#(ann.id)"}],"custom":{"order":7},"labels":["\#(label)","open"]}"#
        let made = try await admin.put(path, body)
        #expect(made.status == 201 && made["custom.order"]?.integer == 7, "\(made.text)")
        func listed(_ query: String) async throws -> [String?] {
            try await admin.get("/v1/admin/threads?\(query)")["threads"]?.array?.map { $0["id"]?.string } ?? []
        }
        let id = try made.string("id")
        #expect(try await listed("label=\(label)&label=open") == [id])
        #expect(try await listed("label=\(label)&label=closed") == [])
        #expect(try await listed("label=\(label)&user=\(ann.id)&kind=group") == [id])
        #expect(try await listed("label=\(label)&kind=room") == [])
        let changed = try await admin.put(path, #"{"kind":"group","custom":null,"labels":["\#(label)"]}"#)
        #expect(changed.status == 200 && changed["custom"] == .null && changed["labels"]?.array?.count == 1)
        let patched = try await admin.patch(path, #"{"topic":"Parcels","labels":null}"#)
        #expect(patched["topic"]?.string == "Parcels" && patched["labels"] == .array([]), "\(patched.text)")
        #expect(try await listed("label=\(label)") == [])
        let bad = try await admin.put(path, #"{"kind":"group","labels":["a","a"]}"#)
        #expect(bad.status == 422)
        let user = try await admin.put("/v1/admin/users/ext:\(ann.external)", #"{"custom":{"tier":"gold"}}"#)
        #expect(user.status == 200 && user["custom.tier"]?.string == "gold", "\(user.text)")
        #expect(try await ann.client.get("/v1/users/me")["custom.tier"]?.string == "gold")
    }
}
