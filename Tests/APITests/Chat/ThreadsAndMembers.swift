// Opening threads, and their members.
import Domain
import Testing

@Suite("Threads and members", .timeLimit(.minutes(1)))
struct ThreadsAndMembers {
    @Test("opens one direct thread for two people, whichever of them asks")
    func opensDirect() async throws {
        let ann = try await Person.make("Ann")
        let bob = try await Person.make("Bob")
        let first = try await ann.client.post("/v1/threads", #"{"kind":"direct","members":["\#(bob.id)"]}"#)
        #expect(first.status == 201)
        #expect(try first.string("peer.id") == bob.id)
        #expect(try first.string("title") == "Bob")
        let again = try await bob.client.post(
            "/v1/threads", #"{"kind":"direct","members":["\#(ann.id)","\#(bob.id)","\#(ann.id)"]}"#)
        #expect(again.status == 200)
        #expect(try again.string("id") == first.string("id"))
        #expect(try again.string("peer.id") == ann.id)
    }

    @Test("opens a group with members joined or invited")
    func opensGroups() async throws {
        let ann = try await Person.make("Ann")
        let bob = try await Person.make("Bob")
        let joined = try await ann.client.post(
            "/v1/threads", #"{"kind":"group","title":"G","members":["\#(bob.id)"],"retention":{"keep":"forever"}}"#)
        #expect(joined.status == 201)
        #expect(try joined.integer("member_count") == 2)
        #expect(try joined.string("me.role") == "owner")
        let invited = try await ann.client.post(
            "/v1/threads", #"{"kind":"group","members":["\#(bob.id)"],"invite":true}"#)
        #expect(try invited.integer("member_count") == 1)
        let seen = try await bob.client.get("/v1/threads/\(invited.string("id"))")
        #expect(try seen.string("me.status") == "invited")
        let alone = try await ann.client.post("/v1/threads", #"{"kind":"group"}"#)
        #expect(alone.status == 201)
    }

    @Test(
        "names invalid fields of a thread",
        arguments: [
            ("{}", ["kind"]), (#"{"kind":"team"}"#, ["kind"]), (#"{"kind":"direct"}"#, ["members"]),
            (#"{"kind":"direct","members":[]}"#, ["members"]), (#"{"kind":"direct","members":["x"]}"#, ["members[0]"]),
            (#"{"kind":"group","title":""}"#, ["title"]), (#"{"kind":"group","title":7}"#, ["title"]),
            (#"{"kind":"group","members":{}}"#, ["members"]), (#"{"kind":"group","invite":"yes"}"#, ["invite"]),
            (#"{"kind":"room"}"#, ["title"]), (#"{"kind":"room","title":null}"#, ["title"]),
            (#"{"kind":"direct","members":null}"#, ["members"]), (#"{"kind":null}"#, ["kind"]),
            (#"{"kind":"group","retention":{"keep":"seconds"}}"#, ["retention.seconds"]),
            (#"{"kind":"group","retention":{"keep":"seconds","seconds":0}}"#, ["retention.seconds"]),
            (#"{"kind":"group","retention":{"keep":"seconds","seconds":1e9}}"#, ["retention.seconds"]),
            (#"{"kind":"group","retention":{"keep":"seconds","seconds":315360001}}"#, ["retention.seconds"]),
            (#"{"kind":"group","retention":{"keep":"forever","seconds":5}}"#, ["retention.seconds"]),
            (#"{"kind":"group","retention":{"keep":"until_delivered","seconds":5}}"#, ["retention.seconds"]),
            (#"{"kind":"group","retention":{"keep":"a while"}}"#, ["retention.keep"]),
            (#"{"kind":"group","retention":{"seconds":5}}"#, ["retention.keep"]),
            (#"{"kind":"group","retention":{"keep":"forever","days":5}}"#, ["retention.days"]),
            (#"{"kind":"group","image":"https://a/b"}"#, ["image"]),
            (#"{"kind":"group","members":["018f3c2a-1234-7abc-8def-0123456789ab"]}"#, ["members"]),
        ])
    func namesMistakes(_ body: String, _ fields: [String]) async throws {
        let reply = try await Person.make().client.post("/v1/threads", body)
        #expect(reply.status == 422)
        #expect(reply.errorFields == fields)
    }

    @Test("limits a group's members")
    func boundsGroups() async throws {
        let ids = (0..<1_000).map { _ in "\"\(UserID.make())\"" }.joined(separator: ",")
        let reply = try await Person.make().client.post("/v1/threads", "{\"kind\":\"group\",\"members\":[\(ids)]}")
        #expect(reply.errorFields == ["members"])
    }

    @Test("creates ids whose eighth byte is the lane, 0, for threads of every kind")
    func lanes() async throws {
        let ann = try await Person.make("Ann")
        let room = try await ann.client.post("/v1/rooms", #"{"title":"Lane of \#(ann.username)"}"#).string("id")
        for id in [try await ann.group(), try await ann.direct(with: Person.make("Ben")), room] {
            let version = try #require(id.split(separator: "-").dropFirst(2).first)
            #expect(version.hasPrefix("7") && version.hasSuffix("00"), "\(id)")
        }
    }

    @Test("joins the room with a title, or creates it, ignoring case and spacing")
    func joinsRooms() async throws {
        let ann = try await Person.make("Ann")
        let bob = try await Person.make("Bob")
        let title = "Book \(UserID.make().description.suffix(12))"
        let made = try await ann.client.post("/v1/rooms", #"{"title":"\#(title)"}"#)
        #expect(made.status == 201)
        let joined = try await bob.client.post(
            "/v1/rooms", #"{"title":"  \#(title.uppercased().replacing(" ", with: "   "))"}"#)
        #expect(joined.status == 200)
        #expect(try joined.string("id") == made.string("id"))
        #expect(try joined.string("title") == title)
        #expect(try joined.integer("member_count") == 2)
        let viaThreads = try await Person.make().client.post("/v1/threads", #"{"kind":"room","title":"\#(title)"}"#)
        #expect(viaThreads.status == 200)
        let found = try await bob.client.get("/v1/rooms?query=\(title.lowercased().replacing(" ", with: "+"))")
        #expect(found["rooms"]?.array?.count == 1)
        #expect(try found.integer("rooms.0.member_count") == 3)
        #expect(try await bob.client.get("/v1/rooms?limit=1")["rooms"]?.array?.count == 1)
    }

    @Test("hides a thread from everyone who is not a member")
    func hides() async throws {
        let ann = try await Person.make()
        let eve = try await Person.make()
        let thread = try await ann.group()
        let message = try await ann.say("secret", in: thread).string("id")
        let nowhere = ThreadID.make().description
        for path in ["", "/members", "/messages", "/messages/\(message)", "/messages/\(message)/receipts"] {
            let hidden = try await eve.client.get("/v1/threads/\(thread)\(path)")
            let missing = try await eve.client.get("/v1/threads/\(nowhere)\(path)")
            #expect(hidden.status == 404)
            #expect(hidden.text == missing.text)
        }
        #expect(try await eve.client.get("/v1/threads/none").problemCode == "thread_not_found")
        let sent = try await eve.client.post("/v1/threads/\(thread)/messages", #"{"payload":{"text":"x"}}"#)
        #expect(sent.problemCode == "thread_not_found")
        #expect(try await eve.client.put("/v1/threads/\(thread)/receipts", #"{"read":1}"#).status == 404)
    }

    @Test("lets invited people read only after they accept")
    func acceptsInvitations() async throws {
        let ann = try await Person.make()
        let bob = try await Person.make()
        let thread = try await ann.group()
        let put = try await ann.client.put("/v1/threads/\(thread)/members/\(bob.id)", #"{"status":"invited"}"#)
        #expect(put.status == 200)
        #expect(try put.string("status") == "invited")
        #expect(try await bob.client.get("/v1/threads/\(thread)/messages").problemCode == "not_joined")
        let accepted = try await bob.client.put("/v1/threads/\(thread)/members/me", #"{"status":"joined"}"#)
        #expect(try accepted.string("status") == "joined")
        #expect(try accepted.string("user.id") == bob.id)
        #expect(try await bob.client.get("/v1/threads/\(thread)/messages").status == 200)
    }

    @Test("adds members without a body, lists them by role, and lets members and the last owner leave")
    func changesMembers() async throws {
        let ann = try await Person.make("Ann")
        let bob = try await Person.make("Bob")
        let thread = try await ann.group()
        let added = try await ann.client.put("/v1/threads/\(thread)/members/\(bob.id)")
        #expect(try added.string("role") == "member")
        let members = try await bob.client.get("/v1/threads/\(thread)/members")
        #expect(try members.string("members.0.user.name") == "Ann")
        #expect(try members.string("members.1.user.name") == "Bob")
        #expect(try await bob.client.delete("/v1/threads/\(thread)/members/\(ann.id)").problemCode == "not_allowed")
        #expect(try await ann.client.delete("/v1/threads/\(thread)/members/me").status == 204)
        #expect(try await ann.client.get("/v1/threads/\(thread)").status == 404)
        #expect(try await bob.client.get("/v1/threads/\(thread)").string("me.role") == "owner")
    }

    @Test("refuses statuses that only DELETE may set, and unknown people")
    func refusesPuts() async throws {
        let ann = try await Person.make()
        let thread = try await ann.group()
        let path = "/v1/threads/\(thread)/members"
        for body in [#"{"status":"left"}"#, #"{"status":"removed"}"#, #"{"status":"gone"}"#] {
            #expect(try await ann.client.put("\(path)/\(ann.id)", body).errorFields == ["status"])
        }
        #expect(try await ann.client.put("\(path)/\(ann.id)", #"{"role":"king"}"#).errorFields == ["role"])
        #expect(try await ann.client.put("\(path)/\(UserID.make())").problemCode == "user_not_found")
        #expect(try await ann.client.put("\(path)/bob").problemCode == "user_not_found")
        #expect(try await ann.client.delete("\(path)/bob").problemCode == "member_not_found")
        #expect(try await ann.client.delete("\(path)/\(UserID.make())").problemCode == "member_not_found")
    }
}
