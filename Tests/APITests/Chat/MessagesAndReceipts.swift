// Sending, the history, receipts, the inbox.
import Domain
import Testing

@Suite("Messages and receipts", .timeLimit(.minutes(1)))
struct MessagesAndReceipts {
    @Test("returns the whole message, with the payload as it was written")
    func sends() async throws {
        let ann = try await Person.make("Ann")
        let thread = try await ann.group()
        let reply = try await ann.client.post(
            "/v1/threads/\(thread)/messages",
            #"{ "payload" : {"n":1.50, "text":"h\u00e9 \ud83d\ude00", "z":{"b":1,"a":1e2}} }"#)
        #expect(reply.status == 201)
        #expect(reply.text.contains(#""payload":{"n":1.50,"text":"hé 😀","z":{"b":1,"a":1e2}}"#))
        #expect(try reply.integer("seq") == 1)
        #expect(try reply.string("type") == "message")
        #expect(try reply.string("sender.name") == "Ann")
        #expect(reply["mentions"] == .array([]))
        let timestamp = try reply.string("timestamp")
        #expect(Timestamp(parsing: timestamp)?.description == timestamp)
        let read = try await ann.client.get("/v1/threads/\(thread)/messages/\(reply.string("id"))")
        #expect(read.text == reply.text)
    }

    @Test("stores a retried id once and refuses another body under that id")
    func retries() async throws {
        let ann = try await Person.make()
        let thread = try await ann.group()
        let id = MessageID.make().description
        func send(_ text: String, id: String) async throws -> Reply {
            try await ann.client.post(
                "/v1/threads/\(thread)/messages", #"{"id":"\#(id)","payload":{"text":"\#(text)"}}"#)
        }
        let first = try await send("hi", id: id)
        #expect(first.status == 201)
        #expect(try first.string("id") == id)
        let again = try await send("hi", id: id.uppercased())
        #expect(again.status == 200)
        #expect(again.text == first.text)
        let other = try await send("ho", id: id)
        #expect(other.status == 409)
        #expect(other.problemCode == "id_taken")
    }

    @Test("answers a retry after the sender has left, and hides everything else of the thread")
    func retriesAfterLeaving() async throws {
        let ann = try await Person.make()
        let bob = try await Person.make()
        let thread = try await ann.group(with: [bob])
        let others = try await ann.say("mine", in: thread).string("id")
        let id = MessageID.make().description
        func send(_ text: String, id: String) async throws -> Reply {
            try await bob.client.post(
                "/v1/threads/\(thread)/messages", #"{"id":"\#(id)","payload":{"text":"\#(text)"}}"#)
        }
        let first = try await send("hi", id: id)
        _ = try await bob.client.delete("/v1/threads/\(thread)/members/me")
        let again = try await send("hi", id: id)
        #expect(again.status == 200)
        #expect(again.text == first.text)
        #expect(try await send("ho", id: id).problemCode == "id_taken")
        for hidden in [MessageID.make().description, others] {
            #expect(try await send("mine", id: hidden).problemCode == "thread_not_found")
        }
        // The same while the sender is only invited again.
        _ = try await ann.client.put("/v1/threads/\(thread)/members/\(bob.id)", #"{"status":"invited"}"#)
        #expect(try await send("hi", id: id).status == 200)
        #expect(try await send("mine", id: others).problemCode == "not_joined")
    }

    @Test("accepts replies and mentions only of messages and members of the thread")
    func refers() async throws {
        let ann = try await Person.make()
        let bob = try await Person.make()
        let thread = try await ann.group(with: [bob])
        let first = try await ann.say("one", in: thread).string("id")
        let path = "/v1/threads/\(thread)/messages"
        let reply = try await bob.client.post(
            path, #"{"payload":{"text":"two"},"reply_to":"\#(first)","mentions":["\#(ann.id)","\#(ann.id)"]}"#)
        #expect(reply.status == 201)
        #expect(try reply.string("reply_to") == first)
        #expect(reply["mentions"]?.array?.count == 1)
        let stray = try await bob.client.post(path, #"{"payload":{"text":"x"},"reply_to":"\#(MessageID.make())"}"#)
        #expect(stray.errorFields == ["reply_to"])
        let outsider = try await bob.client.post(path, #"{"payload":{"text":"x"},"mentions":["\#(UserID.make())"]}"#)
        #expect(outsider.errorFields == ["mentions"])
    }

    @Test("returns pages of the history by seq, message and time")
    func pages() async throws {
        let ann = try await Person.make()
        let thread = try await ann.group()
        var messages: [Reply] = []
        for index in 1...5 { messages.append(try await ann.say("\(index)", in: thread)) }
        func seqs(_ query: String) async throws -> [Int64] {
            let reply = try await ann.client.get("/v1/threads/\(thread)/messages?\(query)")
            #expect(reply.status == 200, "\(reply.text)")
            #expect(reply["head"]?.integer == 5)
            return reply["messages"]?.array?.compactMap { $0["seq"]?.integer } ?? []
        }
        #expect(try await seqs("") == [1, 2, 3, 4, 5])
        #expect(try await seqs("limit=2") == [4, 5])
        #expect(try await seqs("limit=2&before=4") == [2, 3])
        #expect(try await seqs("after=3") == [4, 5])
        #expect(try await seqs("after=\(messages[3].string("id"))") == [5])
        #expect(try await seqs("before=\(messages[1].string("id").uppercased())") == [1])
        #expect(try await seqs("after=\(messages[0].string("timestamp"))").last == 5)
        #expect(try await seqs("before=2001-01-01T00:00:00%2B01:00") == [])
        #expect(try await seqs("after=2001-01-01T00:00:00+01:00").count == 5)
        #expect(try await seqs("after=9223372036854775807") == [])
        #expect(try await seqs("before=0") == [])
        #expect(try await seqs("after=1&before=4") == [2, 3])
        let end = try await ann.client.get("/v1/threads/\(thread)/messages?limit=4")
        #expect(end["end"] == .bool(false))
        let path = "/v1/threads/\(thread)/messages"
        for query in ["before=x", "before=-1", "after=99999999999999999999", "limit=0", "limit=201", "sort=asc"] {
            #expect(try await ann.client.get("\(path)?\(query)").status == 422)
        }
        #expect(try await ann.client.get("\(path)?before=\(MessageID.make())").errorFields == ["before"])
    }

    @Test("keeps a tombstone of a deleted message")
    func deletes() async throws {
        let ann = try await Person.make()
        let bob = try await Person.make()
        let thread = try await ann.group(with: [bob])
        let id = try await ann.say("gone", in: thread).string("id")
        let path = "/v1/threads/\(thread)/messages/\(id)"
        #expect(try await bob.client.delete(path).problemCode == "not_allowed")
        #expect(try await ann.client.delete("\(path)?for=all").errorFields == ["for"])
        #expect(try await ann.client.delete("\(path)?for=everyone").status == 204)
        #expect(try await ann.client.delete(path).status == 204)
        let tombstone = try await bob.client.get(path)
        #expect(tombstone["payload"] == .null)
        #expect(tombstone["deleted_at"]?.string != nil)
        #expect(try await ann.client.delete("/v1/threads/\(thread)/messages/x").problemCode == "message_not_found")
    }

    @Test("moves marks forward and lists readers")
    func movesMarks() async throws {
        let ann = try await Person.make("Ann")
        let bob = try await Person.make("Bob")
        let thread = try await ann.group(with: [bob])
        let first = try await ann.say("1", in: thread).string("id")
        try await ann.say("2", in: thread)
        let path = "/v1/threads/\(thread)/receipts"
        #expect(try await bob.client.put(path, #"{"delivered":2}"#).status == 204)
        #expect(try await bob.client.put(path, #"{"read":1}"#).status == 204)
        #expect(try await bob.client.put(path, #"{"read":0}"#).status == 204)
        let receipts = try await ann.client.get("/v1/threads/\(thread)/messages/\(first)/receipts")
        #expect(try receipts.string("receipts.0.user.id") == bob.id)
        #expect(receipts["receipts.0.read_at"]?.string != nil)
        #expect(try await bob.client.get("/v1/threads/\(thread)").integer("unread_count") == 1)
    }

    @Test(
        "refuses invalid marks",
        arguments: [
            ("{}", ["read"]), (#"{"read":null,"delivered":null}"#, ["read"]), (#"{"read":-1}"#, ["read"]),
            (#"{"read":1.5}"#, ["read"]), (#"{"read":1e30}"#, ["read"]),
            (#"{"read":99999999999999999999}"#, ["read"]), (#"{"read":"1"}"#, ["read"]),
            (#"{"delivered":true,"x":1}"#, ["delivered", "x"]), (#"{"read":3}"#, ["read"]),
            (#"{"delivered":9223372036854775807}"#, ["delivered"]), (#"{"read":1,"delivered":7}"#, ["delivered"]),
            ("[]", ["body"]),
        ])
    func refusesMarks(_ body: String, _ fields: [String]) async throws {
        let ann = try await Person.make()
        let thread = try await ann.group()
        try await ann.say("1", in: thread)
        let reply = try await ann.client.put("/v1/threads/\(thread)/receipts", body)
        #expect(reply.status == 422)
        #expect(reply.errorFields == fields)
    }

    @Test("moves marks in many threads with one call, and names the first that fails")
    func movesMany() async throws {
        let ann = try await Person.make()
        let bob = try await Person.make()
        var threads: [String] = []
        for _ in 0..<3 {
            threads.append(try await ann.group(with: [bob]))
            try await ann.say("1", in: threads.last ?? "")
        }
        func body(_ entries: [String]) -> String { #"{"receipts":[\#(entries.joined(separator: ","))]}"# }
        let all = threads.map { #"{"thread_id":"\#($0)","read":1}"# }
        #expect(try await bob.client.post("/v1/receipts", body(all)).status == 204)
        #expect(try await bob.client.get("/v1/inbox").integer("unread_total") == 0)
        let missing = #"{"thread_id":"\#(ThreadID.make())","read":1}"#
        let failed = try await bob.client.post("/v1/receipts", body([all[0], missing, missing]))
        #expect(failed.status == 404)
        #expect(failed.problemCode == "thread_not_found")
        #expect(failed.errorFields == ["receipts[1]"])
        let past = try await bob.client.post("/v1/receipts", body([#"{"thread_id":"\#(threads[0])","delivered":9}"#]))
        #expect(past.errorFields == ["receipts[0].delivered"])
        let wrong = try await bob.client.post("/v1/receipts", body([#"{"thread_id":"x","read":-1}"#, "{}"]))
        #expect(
            wrong.errorFields == [
                "receipts[0].thread_id", "receipts[0].read", "receipts[1].thread_id", "receipts[1].read",
            ])
        let many = try await bob.client.post("/v1/receipts", body(Array(repeating: all[0], count: 1_001)))
        #expect(many.errorFields == ["receipts"])
        #expect(try await bob.client.post("/v1/receipts", body([])).status == 204)
    }

    @Test("returns the inbox newest first, with unread counts and a cursor")
    func showsInbox() async throws {
        let ann = try await Person.make()
        let bob = try await Person.make()
        let first = try await ann.group(with: [bob], title: "first")
        let second = try await ann.group(with: [bob], title: "second")
        try await ann.say("1", in: second)
        try await ann.say("2", in: first)
        let inbox = try await bob.client.get("/v1/inbox")
        #expect(inbox.status == 200)
        #expect(try inbox.string("threads.0.title") == "first")
        #expect(try inbox.integer("threads.0.unread_count") == 1)
        #expect(try inbox.string("threads.1.last_message.payload.text") == "1")
        #expect(try inbox.integer("unread_total") == 2)
        #expect(Cursor(parsing: try inbox.string("cursor")) != nil)
        #expect(inbox["next"] == nil)
        _ = try await bob.client.put("/v1/threads/\(first)/receipts", #"{"read":1}"#)
        let unread = try await bob.client.get("/v1/inbox?unread=true&limit=1")
        #expect(unread["threads"]?.array?.compactMap { $0["id"]?.string } == [second])
        let page = try await bob.client.get("/v1/inbox?limit=1")
        let next = try await bob.client.get("/v1/inbox?limit=1&page=\(page.string("next"))")
        #expect(try next.string("threads.0.id") == second)
        #expect(try await bob.client.get("/v1/inbox?unread=1").errorFields == ["unread"])
    }

    @Test("wakes a waiting poll with the message")
    func wakesPolls() async throws {
        let ann = try await Person.make()
        let bob = try await Person.make()
        let thread = try await ann.group(with: [bob])
        let cursor = try await bob.client.get("/v1/inbox").string("cursor")
        async let poll = bob.client.get("/v1/sync?cursor=\(cursor)&wait=30")
        try await ann.say("hello", in: thread)
        let events = try await poll
        #expect(events.status == 200)
        #expect(try events.string("events.0.type") == "message.created")
        #expect(try events.string("events.0.data.payload.text") == "hello")
        #expect(try await bob.client.get("/v1/sync?cursor=nonsense").errorFields == ["cursor"])
        #expect(try await bob.client.get("/v1/sync?wait=56").errorFields == ["wait"])
    }
}
