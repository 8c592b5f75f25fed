// Marking a thread unread again, for the caller alone.
import Domain
import Testing

@Suite("Marking a thread unread", .timeLimit(.minutes(1)))
struct MarkingUnread {
    /// Ann writes four messages, of which the third mentions Bob, who has read them all; then Bob writes one.
    private func conversation() async throws -> (ann: Person, bob: Person, thread: String) {
        let ann = try await Person.make("Ann")
        let bob = try await Person.make("Bob")
        let thread = try await ann.group(with: [bob])
        for number in 1...4 {
            let mentions = number == 3 ? "\"\(bob.id)\"" : ""
            let body = #"{"payload":{"text":"\#(number)"},"mentions":[\#(mentions)]}"#
            #expect(try await ann.client.post("/v1/threads/\(thread)/messages", body).status == 201)
        }
        try await bob.say("5", in: thread)
        return (ann, bob, thread)
    }

    private func counts(_ person: Person, _ thread: String) async throws -> [Int64] {
        let view = try await person.client.get("/v1/threads/\(thread)")
        return [
            try view.integer("me.read_seq"), try view.integer("unread_count"), try view.integer("mention_count"),
            try await person.client.get("/v1/inbox").integer("unread_total"),
        ]
    }

    private func markSeenByOthers(_ ann: Person, _ bob: Person, _ thread: String) async throws -> Int64? {
        let members = try await ann.client.get("/v1/threads/\(thread)/members")["members"]?.array ?? []
        return members.first { $0["user"]?["id"]?.string == bob.id }?["read_seq"]?.integer
    }

    @Test("counts others' messages from the given seq on, and does not move the mark that others see")
    func goesBack() async throws {
        let (ann, bob, thread) = try await conversation()
        #expect(try await counts(bob, thread) == [5, 0, 0, 0])
        let path = "/v1/threads/\(thread)/unread"
        #expect(try await bob.client.put(path, #"{"from":2}"#).status == 204)
        #expect(try await counts(bob, thread) == [1, 3, 1, 3])
        #expect(try await markSeenByOthers(ann, bob, thread) == 5)
        #expect(try await bob.client.get("/v1/threads/\(thread)").integer("me.delivered_seq") == 5)
        // Marking unread never moves the mark forward.
        #expect(try await bob.client.put(path, #"{"from":4}"#).status == 204)
        #expect(try await counts(bob, thread) == [1, 3, 1, 3])
        let unread = try await bob.client.get("/v1/inbox?unread=true")
        #expect(unread["threads"]?.array?.compactMap { $0["id"]?.string } == [thread])
    }

    @Test("ends by reading on, and at once by sending a message")
    func comesForward() async throws {
        let (ann, bob, thread) = try await conversation()
        let (path, receipts) = ("/v1/threads/\(thread)/unread", "/v1/threads/\(thread)/receipts")
        _ = try await bob.client.put(path, #"{"from":1}"#)
        #expect(try await counts(bob, thread) == [0, 4, 1, 4])
        #expect(try await bob.client.put(receipts, #"{"read":3}"#).status == 204)
        #expect(try await counts(bob, thread) == [3, 1, 0, 1])
        try await ann.say("6", in: thread)
        #expect(try await counts(bob, thread) == [3, 2, 0, 2])
        #expect(try await bob.client.put(receipts, #"{"read":5}"#).status == 204)
        #expect(try await counts(bob, thread) == [5, 1, 0, 1])
        #expect(try await bob.client.put(receipts, #"{"read":6}"#).status == 204)
        _ = try await bob.client.put(path, #"{"from":6}"#)
        #expect(try await counts(bob, thread) == [5, 1, 0, 1])
        try await bob.say("7", in: thread)
        #expect(try await counts(bob, thread) == [7, 0, 0, 0])
        #expect(try await markSeenByOthers(ann, bob, thread) == 7)
    }

    @Test("stays exact while messages after the mark are deleted")
    func deletes() async throws {
        let (ann, bob, thread) = try await conversation()
        _ = try await bob.client.put("/v1/threads/\(thread)/unread", #"{"from":1}"#)
        let messages = try await ann.client.get("/v1/threads/\(thread)/messages")["messages"]?.array ?? []
        func delete(_ index: Int, by person: Person) async throws {
            let id = try #require(messages[index]["id"]?.string)
            #expect(try await person.client.delete("/v1/threads/\(thread)/messages/\(id)").status == 204)
        }
        try await delete(2, by: ann)
        #expect(try await counts(bob, thread) == [0, 3, 0, 3])
        try await delete(4, by: bob)
        #expect(try await counts(bob, thread) == [0, 3, 0, 3])
    }

    @Test("notifies the caller's devices, with the counts, and no other member")
    func tells() async throws {
        let (ann, bob, thread) = try await conversation()
        let (annFrom, bobFrom) = (
            try await ann.client.get("/v1/inbox").string("cursor"),
            try await bob.client.get("/v1/inbox").string("cursor")
        )
        _ = try await bob.client.put("/v1/threads/\(thread)/unread", #"{"from":3}"#)
        _ = try await bob.client.put("/v1/threads/\(thread)/receipts", #"{"read":3}"#)
        func marks(_ person: Person, _ cursor: String) async throws -> [[Int64?]] {
            let events = try await person.client.get("/v1/sync?cursor=\(cursor)&wait=0")["events"]?.array ?? []
            return events.map { event in
                ["read_seq", "unread_count", "mention_count"].map { event["data"]?[$0]?.integer }
            }
        }
        #expect(try await marks(bob, bobFrom) == [[2, 2, 1], [3, 1, 0]])
        #expect(try await marks(ann, annFrom) == [])
        // The event for all members has the mark that all see, and comes before the reader's own event.
        try await ann.say("6", in: thread)
        let then = try await bob.client.get("/v1/inbox").string("cursor")
        _ = try await bob.client.put("/v1/threads/\(thread)/receipts", #"{"delivered":6}"#)
        #expect(try await marks(bob, then) == [[5, 2, 0], [3, 2, 0]])
        #expect(try await marks(ann, then) == [[5, 2, 0]])
    }

    @Test("refuses an unknown seq, and a caller who may not read")
    func refuses() async throws {
        let (_, bob, thread) = try await conversation()
        let path = "/v1/threads/\(thread)/unread"
        for (body, fields) in [
            (#"{"from":6}"#, ["from"]), (#"{"from":0}"#, ["from"]), (#"{"from":-1}"#, ["from"]), ("{}", ["from"]),
            (#"{"from":1,"read":1}"#, ["read"]), (#"{"from":"1"}"#, ["from"]),
        ] {
            let reply = try await bob.client.put(path, body)
            #expect(reply.status == 422)
            #expect(reply.errorFields == fields, "\(body)")
        }
        let stranger = try await Person.make()
        #expect(try await stranger.client.put(path, #"{"from":1}"#).problemCode == "thread_not_found")
        #expect(try await stranger.client.put("/v1/threads/x/unread", #"{"from":1}"#).status == 404)
    }
}
