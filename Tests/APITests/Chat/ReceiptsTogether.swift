// In threads of more than ten members, receipts of others are combined; the caller's own are sent at once.
import Domain
import Testing

@Suite("Receipts in large threads", .timeLimit(.minutes(1)))
struct ReceiptsTogether {
    /// Returns the `receipt.updated` events after a cursor, once there are `count`.
    private func receipts(_ person: Person, _ start: String, count: Int) async throws -> [JSONValue] {
        var (cursor, events) = (start, [JSONValue]())
        for _ in 0..<20 where events.count < count {
            let reply = try await person.client.get("/v1/sync?cursor=\(cursor)&wait=1")
            events += (reply["events"]?.array ?? []).filter { $0["type"]?.string == "receipt.updated" }
            cursor = try reply.string("cursor")
        }
        return events
    }

    private func cursor(of person: Person) async throws -> String {
        try await person.client.get("/v1/inbox").string("cursor")
    }

    /// A group of Ann, Bob, Cleo and eight more, with two messages of Ann's.
    private func group() async throws -> (ann: Person, bob: Person, cleo: Person, thread: String) {
        let people = [try await Person.make("Ann"), try await Person.make("Bob"), try await Person.make("Cleo")]
        let thread = try await people[0].group(with: Array(people.dropFirst()))
        try await people[0].fill(thread, count: 8, status: "joined")
        try await people[0].say("1", in: thread)
        try await people[0].say("2", in: thread)
        return (people[0], people[1], people[2], thread)
    }

    @Test("notify the reader's own devices at once, with the counts, and the others in one combined event")
    func tell() async throws {
        let (ann, bob, cleo, thread) = try await group()
        let (annFrom, bobFrom) = (try await cursor(of: ann), try await cursor(of: bob))
        let path = "/v1/threads/\(thread)/receipts"
        #expect(try await bob.client.put(path, #"{"read":1}"#).status == 204)
        // Without waiting.
        let own = try await bob.client.get("/v1/sync?cursor=\(bobFrom)&wait=0")
        #expect(own["events"]?.array?.count == 1)
        #expect(try own.string("events.0.data.user_id") == bob.id)
        #expect(try own.integer("events.0.data.read_seq") == 1)
        #expect(try own.integer("events.0.data.unread_count") == 1)
        #expect(try await ann.client.get("/v1/sync?cursor=\(annFrom)&wait=0")["events"] == .array([]))
        #expect(try await bob.client.put(path, #"{"read":2}"#).status == 204)
        #expect(try await cleo.client.put(path, #"{"delivered":2}"#).status == 204)

        let heard = try await receipts(ann, annFrom, count: 1)
        try #require(heard.count == 1)
        #expect(heard[0]["thread_id"]?.string == thread)
        #expect(heard[0]["data"]?.object?.map(\.key) == ["receipts"])
        let marks = heard[0]["data"]?["receipts"]?.array ?? []
        let seqs = marks.map { [$0["read_seq"]?.integer, $0["delivered_seq"]?.integer] }
        let found = Dictionary(uniqueKeysWithValues: zip(marks.map { $0["user_id"]?.string }, seqs))
        #expect(found == [bob.id: [2, 2], cleo.id: [0, 2]])
        #expect(marks.allSatisfy { $0["unread_count"] == nil && $0["delivered_at"]?.string != nil })
        // Bob's devices get the combined event too, after their own.
        let bobHeard = try await receipts(bob, bobFrom, count: 3)
        #expect(bobHeard.map { $0["data"]?["unread_count"]?.integer } == [1, 0, nil])
        #expect(bobHeard.last == heard.last)
    }

    @Test("skip members who left meanwhile, and do not publish marking unread to others")
    func leaveOut() async throws {
        let (ann, bob, cleo, thread) = try await group()
        let annFrom = try await cursor(of: ann)
        let path = "/v1/threads/\(thread)/receipts"
        #expect(try await bob.client.put(path, #"{"read":2}"#).status == 204)
        #expect(try await cleo.client.put(path, #"{"read":2}"#).status == 204)
        #expect(try await bob.client.put("/v1/threads/\(thread)/unread", #"{"from":1}"#).status == 204)
        #expect(try await cleo.client.delete("/v1/threads/\(thread)/members/me").status == 204)
        let heard = try await receipts(ann, annFrom, count: 1)
        let marks = heard.first?["data"]?["receipts"]?.array ?? []
        #expect(marks.map { $0["user_id"]?.string } == [bob.id])
        #expect(marks.first?["read_seq"]?.integer == 2)
        #expect(try await bob.client.get("/v1/threads/\(thread)").integer("me.read_seq") == 0)
    }

    @Test("are sent one by one and at once in threads of up to ten")
    func atOnce() async throws {
        let ann = try await Person.make("Ann")
        let bob = try await Person.make("Bob")
        let thread = try await ann.group(with: [bob])
        try await ann.fill(thread, count: 8, status: "joined")
        try await ann.say("1", in: thread)
        let annFrom = try await cursor(of: ann)
        #expect(try await bob.client.put("/v1/threads/\(thread)/receipts", #"{"read":1}"#).status == 204)
        let heard = try await ann.client.get("/v1/sync?cursor=\(annFrom)&wait=0")
        #expect(heard["events"]?.array?.count == 1)
        #expect(try heard.string("events.0.data.user_id") == bob.id)
    }
}
