// PATCH of a thread, which all members see, and of the caller's own settings, which no other person sees.
import Domain
import Testing

@Suite("Changing a thread", .timeLimit(.minutes(1)))
struct ThreadChanges {
    @Test("changes and clears a group's title and image, and publishes the title")
    func changesGroups() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let invited = try await Person.make("Cid")
        let thread = try await ann.group(with: [bob], title: "Old")
        let path = "/v1/threads/\(thread)"
        _ = try await ann.client.put("\(path)/members/\(invited.id)", #"{"status":"invited"}"#)
        let start = try await ann.client.get("/v1/sync").string("cursor")
        let changed = try await ann.client.patch(path, #"{"title":"  New ","image":"https://example.org/a.png"}"#)
        #expect(changed.status == 200)
        #expect(try changed.string("title") == "New")
        #expect(try await bob.client.get(path).string("image") == "https://example.org/a.png")
        #expect(try changed.string("last_message.payload.action") == "renamed")
        #expect(try changed.string("last_message.payload.title") == "New")
        #expect(try changed.string("last_message.payload.old_title") == "Old")
        #expect(try changed.string("last_message.payload.by.name") == "Ann")
        #expect(try await bob.eventTypes(since: start) == ["thread.updated", "message.created"])
        #expect(try await invited.eventTypes(since: start) == ["thread.updated"])
        #expect(try await invited.client.get("/v1/inbox").string("threads.0.title") == "New")
        for body in ["{}", #"{"title":"New"}"#, #"{"image":null}"#, #"{"retention":{"keep":"forever"}}"#] {
            #expect(try await ann.client.patch(path, body).integer("head") == 1)
        }
        let emptied = try await ann.client.patch(path, #"{"title":null}"#)
        #expect(emptied["title"] == .null)
        #expect(emptied["image"] == .null)
        #expect(try emptied.integer("head") == 2)
    }

    @Test("finds a room by its new title, and refuses a title that is in use")
    func renamesRooms() async throws {
        let (ann, bob) = (try await Person.make(), try await Person.make())
        let suffix = UserID.make().description.suffix(12)
        let room = try await ann.client.post("/v1/rooms", #"{"title":"First \#(suffix)"}"#).string("id")
        _ = try await ann.client.post("/v1/rooms", #"{"title":"Taken \#(suffix)"}"#)
        let path = "/v1/threads/\(room)"
        #expect(try await ann.client.patch(path, #"{"title":"TAKEN  \#(suffix)"}"#).problemCode == "title_taken")
        #expect(try await ann.client.patch(path, #"{"title":null}"#).errorFields == ["title"])
        #expect(try await ann.client.patch(path, #"{"title":"Second \#(suffix)"}"#).status == 200)
        #expect(try await ann.client.patch(path, #"{"title":"SECOND \#(suffix)"}"#).status == 200)
        let found = try await bob.client.post("/v1/rooms", #"{"title":"second \#(suffix)"}"#)
        #expect(found.status == 200)
        #expect(try found.string("id") == room)
        #expect(try await bob.client.post("/v1/rooms", #"{"title":"First \#(suffix)"}"#).status == 201)
    }

    @Test("cannot change a direct thread, which shows the other person's name")
    func refusesDirect() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let made = try await ann.client.post("/v1/threads", #"{"kind":"direct","members":["\#(bob.id)"]}"#)
        let path = "/v1/threads/\(try made.string("id"))"
        for person in [ann, bob] {
            #expect(try await person.client.patch(path, #"{"title":"Us"}"#).errorFields == ["title"])
            #expect(try await person.client.patch(path, #"{"image":"https://a/b"}"#).errorFields == ["image"])
        }
        _ = try await bob.client.patch("/v1/users/me", #"{"name":"Bobby"}"#)
        #expect(try await ann.client.get(path).string("title") == "Bobby")
    }

    @Test(
        "names invalid fields",
        arguments: [
            (#"{"title":""}"#, "title"), (#"{"title":7}"#, "title"), (#"{"image":"ftp://a/b"}"#, "image"),
            (#"{"kind":"room"}"#, "kind"), (#"{"retention":{"keep":"seconds"}}"#, "retention.seconds"),
        ])
    func namesMistakes(_ body: String, _ field: String) async throws {
        let ann = try await Person.make()
        #expect(try await ann.client.patch("/v1/threads/\(ann.group())", body).errorFields == [field])
    }
}

@Suite("Topics", .timeLimit(.minutes(1)))
struct Topics {
    @Test("of groups and rooms are set and removed by owners and admins, and shown wherever the thread is")
    func areShown() async throws {
        let (ann, bob) = (try await Person.make(), try await Person.make())
        let title = "Topic \(ann.id)"
        let room = try await ann.client.post("/v1/rooms", #"{"title":"\#(title)"}"#)
        #expect(room["topic"] == .null)
        let path = try "/v1/threads/\(room.string("id"))"
        #expect(try await bob.client.post("/v1/rooms", #"{"title":"\#(title)"}"#).status == 200)
        let start = try await bob.client.get("/v1/sync").string("cursor")
        let topic = String(repeating: "ä", count: 512)
        let set = try await ann.client.patch(path, #"{"topic":" \#(topic) "}"#)
        #expect(set.status == 200 && set["topic"]?.string == topic, "\(set.text)")
        #expect(try await bob.client.get(path)["topic"]?.string == topic)
        #expect(try await bob.client.get("/v1/inbox")["threads.0.topic"]?.string == topic)
        let found = try await bob.client.get("/v1/rooms?query=\(title.replacing(" ", with: "%20"))")
        #expect(found["rooms.0.topic"]?.string == topic)
        #expect(try await ann.client.patch(path, #"{"topic":"\#(topic)"}"#).status == 200)
        #expect(try await ann.client.patch(path, #"{"topic":null}"#)["topic"] == .null)
        let events = try await bob.client.get("/v1/sync?wait=0&cursor=\(start)")["events"]?.array ?? []
        #expect(events.map { $0["type"]?.string } == ["thread.updated", "thread.updated"])
        #expect(events.map { $0["data"]?["topic"] } == [.string(topic), .null])
    }

    @Test("have at most 512 characters in one line; members may not set them, and direct threads have none")
    func areRefused() async throws {
        let (ann, bob) = (try await Person.make(), try await Person.make())
        let path = "/v1/threads/\(try await ann.group(with: [bob]))"
        for topic in ["\"\(String(repeating: "x", count: 513))\"", "\"\"", "\"a\\nb\"", "7"] {
            let reply = try await ann.client.patch(path, #"{"topic":\#(topic)}"#)
            #expect(reply.status == 422 && reply.errorFields == ["topic"], "\(reply.text)")
        }
        #expect(try await bob.client.patch(path, #"{"topic":"x"}"#).problemCode == "not_allowed")
        let direct = try await ann.client.post("/v1/threads", #"{"kind":"direct","members":["\#(bob.id)"]}"#)
        let refused = try await ann.client.patch("/v1/threads/\(direct.string("id"))", #"{"topic":"x"}"#)
        #expect(refused.status == 422 && refused.errorFields == ["topic"])
    }
}

@Suite("Settings of a thread", .timeLimit(.minutes(1)))
struct ThreadSettings {
    @Test("apply to the caller alone, and null unmutes")
    func areOnesOwn() async throws {
        let (ann, bob) = (try await Person.make(), try await Person.make())
        let thread = try await ann.group(with: [bob])
        let path = "/v1/threads/\(thread)/settings"
        let start = try await bob.client.get("/v1/sync").string("cursor")
        let set = try await bob.client.patch(
            path, #"{"muted_until":"2031-01-02T03:04:05.6789+01:00","archived":true,"pinned":true}"#)
        #expect(set.status == 200)
        #expect(try set.string("muted_until") == "2031-01-02T02:04:05.678Z")
        let seen = try await bob.client.get("/v1/threads/\(thread)")
        #expect(seen["me.archived"] == .bool(true))
        #expect(seen["me.pinned"] == .bool(true))
        #expect(try seen.string("me.muted_until") == "2031-01-02T02:04:05.678Z")
        #expect(try await ann.client.get("/v1/threads/\(thread)")["me.pinned"] == .bool(false))
        let unset = try await bob.client.patch(path, #"{"muted_until":null,"archived":false}"#)
        #expect(unset["muted_until"] == .null)
        #expect(unset["archived"] == .bool(false))
        #expect(unset["pinned"] == .bool(true))
        #expect(try await bob.client.patch(path, "{}").text == unset.text)
        #expect(try await bob.eventTypes(since: start) == ["settings.updated", "settings.updated"])
        #expect(try await ann.eventTypes(since: start) == [])
        #expect(try await bob.client.patch(path, #"{"muted_until":"9999-12-31T23:59:59.999Z"}"#).status == 200)
    }

    @Test("say which messages alert: all, mentions or none")
    func notify() async throws {
        let ann = try await Person.make()
        let thread = try await ann.group()
        let path = "/v1/threads/\(thread)/settings"
        #expect(try await ann.client.get("/v1/threads/\(thread)").string("me.notify") == "all")
        let start = try await ann.client.get("/v1/sync").string("cursor")
        for level in ["mentions", "none", "none", "all"] {
            #expect(try await ann.client.patch(path, #"{"notify":"\#(level)"}"#).string("notify") == level)
            #expect(try await ann.client.get("/v1/inbox").string("threads.0.me.notify") == level)
        }
        let events = try await ann.client.get("/v1/sync?wait=0&cursor=\(start)")["events"]?.array ?? []
        #expect(events.compactMap { $0["data"]?["notify"]?.string } == ["mentions", "none", "all"])
        #expect(try await ann.client.patch(path, #"{"pinned":true}"#).string("notify") == "all")
    }

    @Test("hide everything before a message: in pages, look-ups, the last message and the counts")
    func hides() async throws {
        let (ann, bob) = (try await Person.make(), try await Person.make())
        let thread = try await ann.group(with: [bob])
        let first = try await ann.say("first", in: thread).string("id")
        for text in ["second", "third", "fourth"] { try await ann.say(text, in: thread) }
        let messages = "/v1/threads/\(thread)/messages"
        let settings = "/v1/threads/\(thread)/settings"
        let hidden = try await bob.client.patch(settings, #"{"hidden_before_seq":3}"#)
        #expect(try hidden.integer("unread_count") == 2)
        func seqs(_ query: String, end: Bool) async throws -> [Int64] {
            let page = try await bob.client.get(messages + query)
            #expect(page["end"] == .bool(end), "\(query)")
            return page["messages"]?.array?.compactMap { $0["seq"]?.integer } ?? []
        }
        #expect(try await seqs("", end: true) == [3, 4])
        #expect(try await seqs("?after=0", end: true) == [3, 4])
        #expect(try await seqs("?after=0&limit=1", end: false) == [3])
        #expect(try await seqs("?before=4", end: true) == [3])
        #expect(try await seqs("?before=2", end: true) == [])
        #expect(try await seqs("?limit=1", end: false) == [4])
        #expect(try await bob.client.get("\(messages)/\(first)").problemCode == "message_not_found")
        #expect(try await ann.client.get("\(messages)/\(first)").status == 200)
        let inbox = try await bob.client.get("/v1/inbox?unread=true")
        #expect(try inbox.integer("unread_total") == 2)
        #expect(try inbox.integer("threads.0.unread_count") == 2)

        #expect(try await bob.client.patch(settings, #"{"hidden_before_seq":5}"#).integer("unread_count") == 0)
        let cleared = try await bob.client.get("/v1/threads/\(thread)")
        #expect(cleared["last_message"] == .null)
        #expect(try cleared.integer("head") == 4)
        #expect(try await bob.client.patch(settings, #"{"hidden_before_seq":6}"#).errorFields == ["hidden_before_seq"])
        try await ann.say("fifth", in: thread)
        #expect(try await seqs("", end: true) == [5])
        #expect(try await bob.client.patch(settings, #"{"hidden_before_seq":0}"#).integer("unread_count") == 5)
    }

    @Test(
        "names invalid fields",
        arguments: [
            (#"{"muted_until":"tomorrow"}"#, "muted_until"), (#"{"muted_until":5}"#, "muted_until"),
            (#"{"muted_until":"9999-12-31T23:59:59-01:00"}"#, "muted_until"),
            (#"{"muted_until":"0001-01-01T00:00:00Z"}"#, "muted_until"), (#"{"archived":null}"#, "archived"),
            (#"{"pinned":"yes"}"#, "pinned"), (#"{"hidden_before_seq":-1}"#, "hidden_before_seq"),
            (#"{"hidden_before_seq":9223372036854775807}"#, "hidden_before_seq"), (#"{"mute":true}"#, "mute"),
            (#"{"notify":"some"}"#, "notify"), (#"{"notify":null}"#, "notify"), (#"{"notify":true}"#, "notify"),
        ])
    func namesMistakes(_ body: String, _ field: String) async throws {
        let ann = try await Person.make()
        #expect(try await ann.client.patch("/v1/threads/\(ann.group())/settings", body).errorFields == [field])
    }
}
