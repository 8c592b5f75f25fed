// Editing messages and deleting them, for everyone or for the caller alone.
import Domain
import TestSupport
import Testing

@Suite("Changing messages", .timeLimit(.minutes(1)))
struct ChangingMessages {
    private let ann: Person
    private let bob: Person
    private let thread: String

    init() async throws {
        ann = try await Person.make("Ann")
        bob = try await Person.make("Bob")
        thread = try await ann.group(with: [bob])
    }

    private var path: String { "/v1/threads/\(thread)/messages" }

    private func events(_ person: Person, since cursor: String) async throws -> [JSONValue] {
        try await person.client.get("/v1/sync?cursor=\(cursor)&wait=0")["events"]?.array ?? []
    }

    @Test("an edit replaces the payload, sets its time, and is published with the whole message")
    func edits() async throws {
        let sent = try await ann.say("helo", in: thread)
        let id = try sent.string("id")
        let cursor = try await bob.client.get("/v1/inbox").string("cursor")
        let edited = try await ann.client.patch("\(path)/\(id)", #"{"payload":{"text":"hello","n":1.50}}"#)
        #expect(edited.status == 200)
        #expect(edited.text.contains(#""payload":{"text":"hello","n":1.50}"#))
        #expect(edited["edited_at"]?.string != nil)
        #expect(edited["timestamp"] == sent["timestamp"] && edited["seq"] == sent["seq"])
        #expect(try await bob.client.get("\(path)/\(id)").text == edited.text)
        let events = try await events(bob, since: cursor)
        #expect(events.map { $0["type"]?.string } == ["message.updated"])
        #expect(events.first?["data"] == edited.json)
        // The message stays unread, and the same payload again is no edit.
        #expect(try await bob.client.get("/v1/inbox").integer("unread_total") == 1)
        let same = try await ann.client.patch("\(path)/\(id)", #"{"payload":{"text":"hello","n":1.50}}"#)
        #expect(same.text == edited.text)
        #expect(try await self.events(bob, since: cursor).count == 1)
    }

    @Test("earlier versions of a message are kept, the first one always")
    func keepsHistory() async throws {
        let id = try await ann.say("0", in: thread).string("id")
        for number in 1...105 {
            let edited = try await ann.client.patch("\(path)/\(id)", #"{"payload":{"text":"\#(number)"}}"#)
            #expect(edited.status == 200)
        }
        let kept = try await Psql.run(
            """
            select string_agg(payload->>'text', ' ' order by version) from message_edits where thread_id = '\(thread)';
            """, conninfo: TestNode.shared().database)
        #expect(kept == (["0"] + (5...104).map { "\($0)" }).joined(separator: " "))
    }

    @Test("a retried send after an edit returns the current message, and another body is refused")
    func retriesAfterEdit() async throws {
        let id = MessageID.make().description
        func send(_ text: String) async throws -> Reply {
            try await ann.client.post(path, #"{"id":"\#(id)","payload":{"text":"\#(text)"}}"#)
        }
        #expect(try await send("first").status == 201)
        for text in ["second", "third"] {
            #expect(try await ann.client.patch("\(path)/\(id)", #"{"payload":{"text":"\#(text)"}}"#).status == 200)
        }
        let again = try await send("first")
        #expect(again.status == 200)
        #expect(try again.string("payload.text") == "third")
        #expect(try await send("third").problemCode == "id_taken")
    }

    @Test("only the sender may edit a message, only with the same type, and only before deletion")
    func refusesEdits() async throws {
        let id = try await bob.say("mine", in: thread).string("id")
        let edit = #"{"payload":{"text":"yours"}}"#
        #expect(try await ann.client.patch("\(path)/\(id)", edit).problemCode == "not_allowed")
        let eve = try await Person.make("Eve")
        #expect(try await eve.client.patch("\(path)/\(id)", edit).problemCode == "thread_not_found")
        #expect(try await bob.client.patch("\(path)/\(MessageID.make())", edit).problemCode == "message_not_found")
        #expect(try await bob.client.patch("\(path)/x", edit).problemCode == "message_not_found")
        for (body, fields) in [
            ("{}", ["payload"]), (#"{"payload":{"text":""}}"#, ["payload.text"]), (#"{"payload":[]}"#, ["payload"]),
            (#"{"payload":{"text":"a"},"type":"message"}"#, ["type"]),
            (#"{"payload":{"text":"a","attachments":[{"id":1}]}}"#, ["payload.attachments[0].id"]),
        ] {
            #expect(try await bob.client.patch("\(path)/\(id)", body).errorFields == fields)
        }
        let place = try await bob.client.post(path, #"{"type":"location","payload":{"latitude":1,"longitude":2}}"#)
        let placePath = try "\(path)/\(place.string("id"))"
        #expect(try await bob.client.patch(placePath, edit).errorFields.first == "payload.latitude")
        let moved = try await bob.client.patch(placePath, #"{"payload":{"latitude":3,"longitude":4}}"#)
        #expect(moved["type"] == .string("location") && moved["payload.latitude"]?.integer == 3)
        #expect(try await bob.client.delete("\(path)/\(id)").status == 204)
        let late = try await bob.client.patch("\(path)/\(id)", edit)
        #expect(late.status == 409 && late.problemCode == "message_deleted")
    }

    @Test("deleting for everyone removes all versions and reactions from the tables and the log")
    func withdrawsVersions() async throws {
        let cursor = try await bob.client.get("/v1/inbox").string("cursor")
        let id = try await ann.say("one secret", in: thread).string("id")
        for text in ["two secret", "three secret"] {
            _ = try await ann.client.patch("\(path)/\(id)", #"{"payload":{"text":"\#(text)"}}"#)
        }
        #expect(try await bob.client.put("\(path)/\(id)/reactions/%F0%9F%91%8D").status == 204)
        #expect(try await events(bob, since: cursor).count == 4)
        #expect(try await ann.client.delete("\(path)/\(id)?for=everyone").status == 204)
        let events = try await events(bob, since: cursor)
        #expect(
            events.map { $0["type"]?.string } == [
                "message.created", "message.updated", "message.updated", "reaction.updated", "message.deleted",
            ])
        for event in events where event["type"] != .string("reaction.updated") {
            #expect(event["data"]?["payload"] == .null && event["data"]?["deleted_at"]?.string != nil)
            #expect(event["data"]?["reactions"] == .object([]))
        }
        let left = try await Psql.run(
            """
            select (select count(*) from messages where thread_id = '\(thread)' and payload::text like '%secret%')
                + (select count(*) from events where thread_id = '\(thread)' and body like '%secret%')
                + (select count(*) from message_edits where thread_id = '\(thread)')
                + (select count(*) from message_reactions where thread_id = '\(thread)')
                + (select count(*) from message_reaction_counts where thread_id = '\(thread)');
            """, conninfo: TestNode.shared().database)
        #expect(left == "0")
    }

    @Test("deleting for the caller alone hides the message on all of the caller's devices and nowhere else")
    func hides() async throws {
        let cursor = try await bob.client.get("/v1/inbox").string("cursor")
        let annsCursor = try await ann.client.get("/v1/inbox").string("cursor")
        _ = try await ann.say("one", in: thread)
        let mention = #"{"payload":{"text":"two"},"mentions":["\#(bob.id)"]}"#
        let id = try await ann.client.post(path, mention).string("id")
        #expect(try await bob.client.get("/v1/inbox").integer("threads.0.mention_count") == 1)
        for _ in 1...2 { #expect(try await bob.client.delete("\(path)/\(id)?for=me").status == 204) }

        let inbox = try await bob.client.get("/v1/inbox")
        #expect(try inbox.string("threads.0.last_message.payload.text") == "one")
        #expect(try inbox.integer("threads.0.unread_count") == 1 && inbox.integer("unread_total") == 1)
        #expect(try inbox.integer("threads.0.mention_count") == 0 && inbox.integer("threads.0.head") == 2)
        #expect(try await bob.client.get(path)["messages"]?.array?.map { $0["seq"]?.integer } == [1])
        for suffix in ["", "/receipts"] {
            #expect(try await bob.client.get("\(path)/\(id)\(suffix)").problemCode == "message_not_found")
        }
        #expect(try await bob.client.put("\(path)/\(id)/reactions/%F0%9F%91%8D").problemCode == "message_not_found")
        let reply = try await bob.client.post(path, #"{"payload":{"text":"x"},"reply_to":"\#(id)"}"#)
        #expect(reply.errorFields == ["reply_to"])

        let events = try await events(bob, since: cursor)
        #expect(events.map { $0["type"]?.string } == ["message.created", "message.created", "message.deleted"])
        let data = events.last?["data"]
        #expect(data?["id"]?.string == id && data?["for"]?.string == "me" && data?["seq"]?.integer == 2)
        #expect(data?["unread_count"]?.integer == 1 && data?["mention_count"]?.integer == 0)
        #expect(try await self.events(ann, since: annsCursor).count == 2)
        #expect(try await ann.client.get("\(path)/\(id)").string("payload.text") == "two")
        #expect(try await ann.client.get("/v1/inbox").string("threads.0.last_message.payload.text") == "two")
    }

    @Test("a message hidden and then deleted reduces the unread count once")
    func countsOnce() async throws {
        for index in 1...3 { try await ann.say("\(index)", in: thread) }
        let messages = try await bob.client.get(path)
        let ids = try [messages.string("messages.0.id"), messages.string("messages.1.id")]
        func unread() async throws -> Int64 { try await bob.client.get("/v1/inbox").integer("unread_total") }
        for id in ids { _ = try await bob.client.delete("\(path)/\(id)?for=me") }
        #expect(try await unread() == 1)
        #expect(try await ann.client.delete("\(path)/\(ids[0])").status == 204)
        #expect(try await unread() == 1)
        _ = try await bob.client.put("/v1/threads/\(thread)/receipts", #"{"read":1}"#)
        #expect(try await unread() == 1)
        _ = try await bob.client.put("/v1/threads/\(thread)/receipts", #"{"read":2}"#)
        #expect(try await unread() == 1)
        _ = try await bob.client.put("/v1/threads/\(thread)/receipts", #"{"read":3}"#)
        #expect(try await unread() == 0)
    }

    @Test("messages before a member's hidden_before_seq do not exist for that member")
    func hidesAllBefore() async throws {
        for index in 1...5 { try await ann.say("\(index)", in: thread) }
        let id = try await bob.client.get(path).string("messages.1.id")
        try await Psql.run(
            "update members set hidden_before_seq = 3 where thread_id = '\(thread)' and user_id = '\(bob.id)';",
            conninfo: TestNode.shared().database)
        #expect(try await bob.client.get("/v1/inbox").integer("threads.0.unread_count") == 3)
        #expect(try await bob.client.get("\(path)/\(id)").problemCode == "message_not_found")
        let reply = try await bob.client.post(path, #"{"payload":{"text":"x"},"reply_to":"\#(id)"}"#)
        #expect(reply.errorFields == ["reply_to"])
        for query in ["", "?limit=3", "?limit=3&after=0"] {
            let page = try await bob.client.get("\(path)\(query)")
            #expect(page["messages"]?.array?.map { $0["seq"]?.integer } == [3, 4, 5])
            #expect(page["end"] == .bool(true))
        }
    }

    @Test("pages are full although hidden messages are skipped")
    func pagesAroundHidden() async throws {
        for index in 1...9 { try await ann.say("\(index)", in: thread) }
        let messages = try await bob.client.get(path)
        for index in [1, 2, 3, 5, 8] {
            let id = try messages.string("messages.\(index).id")
            #expect(try await bob.client.delete("\(path)/\(id)?for=me").status == 204)
        }
        func page(_ query: String) async throws -> (seqs: [Int64], end: Bool?) {
            let reply = try await bob.client.get("\(path)?\(query)")
            #expect(reply["head"]?.integer == 9)
            return (reply["messages"]?.array?.compactMap { $0["seq"]?.integer } ?? [], reply["end"]?.bool)
        }
        #expect(try await page("limit=2") == ([7, 8], false))
        #expect(try await page("limit=2&before=7") == ([1, 5], true))
        #expect(try await page("limit=1&before=5") == ([1], true))
        #expect(try await page("limit=2&after=0") == ([1, 5], false))
        #expect(try await page("limit=2&after=5") == ([7, 8], false))
        #expect(try await page("limit=2&after=8") == ([], true))
        #expect(try await page("limit=2&after=1&before=7") == ([5], true))
        #expect(try await page("limit=200") == ([1, 5, 7, 8], true))
    }
}

@Suite("Earlier versions of a message", .timeLimit(.minutes(1)))
struct EarlierVersions {
    private func versions(_ person: Person, _ path: String) async throws -> [String] {
        let reply = try await person.client.get("\(path)/edits")
        #expect(reply.status == 200, "\(reply.text)")
        return reply["edits"]?.array?.compactMap { $0["payload"]?["text"]?.string } ?? []
    }

    @Test("are listed with the time when each was written, the latest first, in pages")
    func lists() async throws {
        let (ann, bob) = (try await Person.make(), try await Person.make())
        let thread = try await ann.group(with: [bob])
        let message = try await ann.say("one", in: thread)
        let path = try "/v1/threads/\(thread)/messages/\(message.string("id"))"
        #expect(try await bob.client.get("\(path)/edits").text == #"{"edits":[],"limit":30}"#)
        var times = [try message.string("timestamp")]
        for text in ["two", "three", "four"] {
            let edited = try await ann.client.patch(path, #"{"payload":{"text":"\#(text)"}}"#)
            times.append(try edited.string("edited_at"))
        }
        #expect(try await versions(bob, path) == ["three", "two", "one"])
        let all = try await bob.client.get("\(path)/edits")["edits"]?.array ?? []
        #expect(all.compactMap { $0["written_at"]?.string } == times.dropLast().reversed())
        let first = try await ann.client.get("\(path)/edits?limit=2")
        #expect(first["edits"]?.array?.count == 2)
        let second = try await ann.client.get("\(path)/edits?limit=2&page=\(first.string("next"))")
        #expect(second["edits.0.payload.text"]?.string == "one" && second["next"] == nil)
    }

    @Test("are gone with the message's content, and hidden from those who do not see the message")
    func areGone() async throws {
        let (ann, bob, cleo) = (try await Person.make(), try await Person.make(), try await Person.make())
        let thread = try await ann.group(with: [bob])
        let path = "/v1/threads/\(thread)/messages/\(try await ann.say("one", in: thread).string("id"))"
        #expect(try await ann.client.patch(path, #"{"payload":{"text":"two"}}"#).status == 200)
        #expect(try await cleo.client.get("\(path)/edits").problemCode == "thread_not_found")
        #expect(try await bob.client.delete("\(path)?for=me").status == 204)
        #expect(try await bob.client.get("\(path)/edits").problemCode == "message_not_found")
        #expect(try await versions(ann, path) == ["one"])
        #expect(try await ann.client.delete("\(path)?for=everyone").status == 204)
        #expect(try await versions(ann, path) == [])
    }

    @Test("do not exist for clients where the operator turned them off")
    func areOff() async throws {
        let node = try await TestNode { $0.showsEdits = false }
        let ann = try await Person.make("Ann", port: node.port)
        let thread = try await ann.group()
        let path = "/v1/threads/\(thread)/messages/\(try await ann.say("one", in: thread).string("id"))"
        #expect(try await ann.client.patch(path, #"{"payload":{"text":"two"}}"#).status == 200)
        let reply = try await ann.client.get("\(path)/edits")
        #expect(reply.status == 404 && reply.problemCode == "not_found")
        #expect(try await ann.client.get("/v1/service")["edit_history"] == .bool(false))
    }
}
