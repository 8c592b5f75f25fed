// Joining and leaving threads: invitations, ownership, and the system messages about them.
import Domain
import Testing

extension Reply {
    /// The system messages of a page, each as `action by user`, by names.
    fileprivate var news: [String] {
        (self["messages"]?.array ?? []).filter { $0["type"]?.string == "system" }.map { message in
            let payload = message["payload"]
            return ["action", "by", "user"].compactMap { key in
                payload?[key]?.string ?? payload?[key]?["name"]?.string
            }.joined(separator: " ")
        }
    }
}

extension Person {
    /// The thread in this person's inbox; nil if it is not there.
    fileprivate func inboxEntry(_ thread: String) async throws -> JSONValue? {
        try await client.get("/v1/inbox?limit=200")["threads"]?.array?.first { $0["id"]?.string == thread }
    }

    fileprivate func put(_ member: Person, in thread: String, _ body: String = "") async throws -> Reply {
        try await client.put("/v1/threads/\(thread)/members/\(member.id)", body)
    }

    fileprivate func leave(_ thread: String) async throws -> Reply {
        try await client.delete("/v1/threads/\(thread)/members/me")
    }
}

@Suite("Membership", .timeLimit(.minutes(1)))
struct Membership {
    @Test("shows an invitation in the inbox with its author and time, and without messages")
    func showsInvitations() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let old = try await ann.group(title: "Old")
        try await ann.say("secret", in: old)
        let newer = try await bob.group(title: "Newer")
        #expect(try await ann.put(bob, in: old, #"{"status":"invited"}"#).string("status") == "invited")
        let inbox = try await bob.client.get("/v1/inbox")
        #expect(try inbox.string("threads.0.id") == old)
        #expect(try inbox.string("threads.1.id") == newer)
        #expect(try inbox.string("threads.0.title") == "Old")
        #expect(try inbox.string("threads.0.me.invited_by.name") == "Ann")
        #expect(inbox["threads.0.last_message"] == .null)
        #expect(try inbox.integer("threads.0.head") == 0)
        #expect(try inbox.integer("threads.0.unread_count") == 0)
        #expect(!inbox.text.contains("secret"))
        #expect(try await bob.client.put("/v1/threads/\(old)/members/me", #"{"status":"joined"}"#).status == 200)
        let entry = try #require(try await bob.inboxEntry(old))
        #expect(entry["me"]?["invited_by"] == .null)
        #expect(entry["unread_count"]?.integer == 0)
        #expect(entry["head"]?.integer == 2)
    }

    @Test("lets only the invited person accept")
    func acceptsAlone() async throws {
        let (ann, bob) = (try await Person.make(), try await Person.make())
        let thread = try await ann.group()
        _ = try await ann.put(bob, in: thread, #"{"status":"invited"}"#)
        #expect(try await ann.put(bob, in: thread, #"{"status":"joined"}"#).string("status") == "invited")
        #expect(try await ann.client.get("/v1/threads/\(thread)").integer("member_count") == 1)
    }

    @Test("writes no system message for invitations made, declined or withdrawn")
    func declines() async throws {
        let (ann, bob, cid) = (try await Person.make(), try await Person.make(), try await Person.make())
        let thread = try await ann.group()
        for person in [bob, cid] { _ = try await ann.put(person, in: thread, #"{"status":"invited"}"#) }
        #expect(try await bob.leave(thread).status == 204)
        #expect(try await ann.client.delete("/v1/threads/\(thread)/members/\(cid.id)").status == 204)
        for person in [bob, cid] { #expect(try await person.inboxEntry(thread) == nil) }
        #expect(try await ann.client.get("/v1/threads/\(thread)/messages").integer("head") == 0)
        let members = try await ann.client.get("/v1/threads/\(thread)/members")["members"]?.array ?? []
        #expect(members.map { $0["status"]?.string } == ["joined", "left", "left"])
        #expect(try await ann.put(bob, in: thread, #"{"status":"invited"}"#).string("status") == "invited")
    }

    @Test("writes a system message in groups for people added, joined, left and removed, never unread")
    func tellsInGroups() async throws {
        let ann = try await Person.make("Ann")
        let (bob, cid) = (try await Person.make("Bob"), try await Person.make("Cid"))
        let thread = try await ann.group()
        try await ann.say("one", in: thread)
        _ = try await ann.put(bob, in: thread)
        _ = try await ann.put(cid, in: thread, #"{"status":"invited"}"#)
        _ = try await cid.client.put("/v1/threads/\(thread)/members/me", #"{"status":"joined"}"#)
        try await ann.say("two", in: thread)
        _ = try await ann.client.delete("/v1/threads/\(thread)/members/\(bob.id)")
        let entry = try #require(try await cid.inboxEntry(thread))
        #expect(entry["unread_count"]?.integer == 1)
        #expect(entry["last_message"]?["type"]?.string == "system")
        _ = try await cid.leave(thread)
        let page = try await ann.client.get("/v1/threads/\(thread)/messages")
        #expect(page.news == ["added Ann Bob", "joined Cid Cid", "removed Ann Bob", "left Cid Cid"])
        #expect(page["messages"]?.array?.compactMap { $0["seq"]?.integer } == [1, 2, 3, 4, 5, 6])
        #expect(page["messages.1.sender"] == .null)
        let id = try page.string("messages.1.id")
        #expect(try await ann.client.get("/v1/threads/\(thread)/messages/\(id)").string("payload.user.id") == bob.id)
    }

    @Test("writes no system message in rooms for people who join and leave")
    func saysNothingInRooms() async throws {
        let (ann, bob) = (try await Person.make(), try await Person.make())
        let title = "Room \(UserID.make().description.suffix(12))"
        let room = try await ann.client.post("/v1/rooms", #"{"title":"\#(title)"}"#).string("id")
        #expect(try await bob.client.post("/v1/rooms", #"{"title":"\#(title)"}"#).status == 200)
        #expect(try await bob.leave(room).status == 204)
        #expect(try await bob.client.put("/v1/threads/\(room)/members/me", #"{"status":"joined"}"#).status == 200)
        #expect(try await ann.client.delete("/v1/threads/\(room)/members/\(bob.id)").status == 204)
        #expect(try await bob.client.post("/v1/rooms", #"{"title":"\#(title)"}"#).problemCode == "thread_not_found")
        #expect(try await ann.client.get("/v1/threads/\(room)/messages").integer("head") == 0)
        // Owners and admins may add them again.
        #expect(try await ann.put(bob, in: room).string("status") == "joined")
    }

    @Test("passes ownership to the longest-standing admin before any member")
    func handsOn() async throws {
        let ann = try await Person.make()
        let (bob, cid, dan) = (try await Person.make(), try await Person.make(), try await Person.make())
        let thread = try await ann.group()
        for person in [bob, cid, dan] { _ = try await ann.put(person, in: thread) }
        for person in [dan, cid] { _ = try await ann.put(person, in: thread, #"{"role":"admin"}"#) }
        #expect(try await ann.leave(thread).status == 204)
        #expect(try await cid.client.get("/v1/threads/\(thread)").string("me.role") == "owner")
        #expect(try await cid.leave(thread).status == 204)
        #expect(try await dan.client.get("/v1/threads/\(thread)").string("me.role") == "owner")
        #expect(try await dan.leave(thread).status == 204)
        #expect(try await bob.client.get("/v1/threads/\(thread)").string("me.role") == "owner")
    }

    @Test("keeps an owner: the last owner cannot step down, and the first to join an empty thread becomes owner")
    func keepsOwner() async throws {
        let (ann, bob) = (try await Person.make(), try await Person.make())
        let thread = try await ann.group()
        let me = "/v1/threads/\(thread)/members/me"
        #expect(try await ann.client.put(me, #"{"role":"member"}"#).problemCode == "last_owner")
        _ = try await ann.put(bob, in: thread, #"{"status":"invited","role":"owner"}"#)
        // An invited owner does not count as an owner yet.
        #expect(try await ann.client.put(me, #"{"role":"member"}"#).problemCode == "last_owner")
        _ = try await ann.put(bob, in: thread, #"{"role":"member"}"#)
        #expect(try await ann.leave(thread).status == 204)
        #expect(try await bob.client.put(me, #"{"status":"joined"}"#).string("role") == "owner")
        _ = try await bob.put(ann, in: thread, #"{"status":"invited","role":"owner"}"#)
        #expect(try await ann.client.put(me, #"{"status":"joined"}"#).string("role") == "owner")
        #expect(try await ann.client.put(me, #"{"role":"member"}"#).string("role") == "member")
    }

    @Test(
        "lets a direct thread be declined, requested again and accepted, with the messages since then unread")
    func declinesDirect() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let made = try await ann.client.post(
            "/v1/threads", #"{"kind":"direct","members":["\#(bob.id)"],"invite":true}"#)
        let thread = try made.string("id")
        try await ann.say("hello?", in: thread)
        #expect(try await bob.client.get("/v1/threads/\(thread)/messages").problemCode == "not_joined")
        #expect(try await bob.leave(thread).status == 204)
        #expect(try await bob.inboxEntry(thread) == nil)
        let again = try await ann.client.post("/v1/threads", #"{"kind":"direct","members":["\#(bob.id)"]}"#)
        #expect(again.status == 200)
        #expect(try await bob.inboxEntry(thread) == nil)
        #expect(try await ann.put(bob, in: thread, #"{"status":"joined"}"#).problemCode == "direct_members_fixed")
        #expect(try await ann.put(bob, in: thread).string("status") == "invited")
        let opened = try await bob.client.post("/v1/threads", #"{"kind":"direct","members":["\#(ann.id)"]}"#)
        #expect(opened.status == 200)
        #expect(try opened.string("id") == thread)
        #expect(try opened.string("me.status") == "joined")
        #expect(try opened.integer("unread_count") == 1)
        #expect(try opened.integer("head") == 1)
        #expect(try await bob.leave(thread).problemCode == "direct_members_fixed")
        #expect(try await ann.client.put("/v1/threads/\(thread)/members/\(bob.id)", #"{"role":"admin"}"#).status == 409)
    }

    @Test("allows inviting, but not adding, a person who left, whatever happened in between")
    func leftByChoice() async throws {
        let (ann, bob, cid) = (try await Person.make(), try await Person.make(), try await Person.make())
        let thread = try await ann.group(with: [bob, cid])
        #expect(try await bob.leave(thread).status == 204)
        for body in ["", #"{"status":"joined"}"#, #"{"role":"admin"}"#] {
            let refusal = try await ann.put(bob, in: thread, body)
            #expect(refusal.status == 403 && refusal.problemCode == "member_left", "\(body): \(refusal.text)")
        }
        let bobs = "/v1/threads/\(thread)/members/\(bob.id)"
        // Inviting and withdrawing does not circumvent the rule. Declining counts as the person's choice, too.
        for decline in [true, false] {
            #expect(try await ann.put(bob, in: thread, #"{"status":"invited"}"#).string("status") == "invited")
            #expect(try await (decline ? bob.leave(thread) : ann.client.delete(bobs)).status == 204)
            #expect(try await ann.put(bob, in: thread).problemCode == "member_left")
        }
        #expect(try await ann.client.delete(bobs).problemCode == "member_not_found")
        _ = try await ann.put(bob, in: thread, #"{"status":"invited"}"#)
        let accepted = try await bob.client.put("/v1/threads/\(thread)/members/me", #"{"status":"joined"}"#)
        #expect(try accepted.string("status") == "joined")
        // A member who was removed, and did not leave, may be added.
        for person in [bob, cid] {
            #expect(try await ann.client.delete("/v1/threads/\(thread)/members/\(person.id)").status == 204)
            #expect(try await ann.put(person, in: thread).string("status") == "joined")
        }
        // The same holds for a person who never answered.
        let dan = try await Person.make()
        _ = try await ann.put(dan, in: thread, #"{"status":"invited"}"#)
        #expect(try await ann.client.delete("/v1/threads/\(thread)/members/\(dan.id)").status == 204)
        #expect(try await ann.put(dan, in: thread).string("status") == "joined")
    }

    @Test("allows a person who left a room to return or be invited, but not to be added")
    func leftRooms() async throws {
        let (ann, bob) = (try await Person.make(), try await Person.make())
        let title = "Room \(UserID.make().description.suffix(12))"
        let room = try await ann.client.post("/v1/rooms", #"{"title":"\#(title)"}"#).string("id")
        for _ in 0..<2 {
            #expect(try await bob.client.post("/v1/rooms", #"{"title":"\#(title)"}"#).status == 200)
            #expect(try await bob.leave(room).status == 204)
            #expect(try await ann.put(bob, in: room).problemCode == "member_left")
        }
        #expect(try await ann.put(bob, in: room, #"{"status":"invited"}"#).string("status") == "invited")
    }

    @Test("counts invitations towards a group's limit")
    func boundsInvitations() async throws {
        let ann = try await Person.make()
        let thread = try await ann.group()
        try await ann.fill(thread, count: 999, status: "invited")
        let bob = try await Person.make()
        #expect(try await ann.put(bob, in: thread, #"{"status":"invited"}"#).errorFields == ["members"])
        // As many invited people may accept as there is room for.
        #expect(try await ann.put(bob, in: thread).status == 200)
    }

    @Test("treats a page cursor of another list as the first page")
    func straysOntoPages() async throws {
        let ann = try await Person.make("Ann")
        let page = PageKey(rank: .min, id: UserID.make().uuid)
        let reply = try await ann.client.get("/v1/threads/\(ann.group())/members?page=\(page)")
        #expect(reply.status == 200)
    }

    @Test("returns members in pages by role, to every member")
    func pages() async throws {
        let ann = try await Person.make("Ann")
        let thread = try await ann.group()
        let (bob, cid) = (try await Person.make("Bob"), try await Person.make("Cid"))
        for (person, role) in [(bob, "owner"), (cid, "admin")] {
            _ = try await ann.put(person, in: thread, #"{"role":"\#(role)"}"#)
        }
        try await ann.fill(thread, count: 20, status: "joined")
        try await ann.fill(thread, count: 10, status: "left")
        let dan = try await Person.make("Dan")
        _ = try await ann.put(dan, in: thread)
        for (person, count) in [(ann, 34), (dan, 24)] {
            var seen: [JSONValue] = []
            var page = ""
            for _ in 0..<40 {
                let reply = try await person.client.get("/v1/threads/\(thread)/members?limit=3\(page)")
                seen += reply["members"]?.array ?? []
                guard let next = reply["next"]?.string else { break }
                page = "&page=\(next)"
            }
            #expect(seen.count == count)
            #expect(Set(seen.compactMap { $0["user"]?["id"]?.string }).count == count)
            #expect(seen.prefix(4).map { $0["role"]?.string } == ["owner", "owner", "admin", "member"])
        }
    }
}
