// Reactions: the permission to add them, their counts, and the notified people.
import Domain
import TestSupport
import Testing

@Suite("Reacting to messages", .timeLimit(.minutes(1)))
struct ReactingToMessages {
    private let ann: Person
    private let bob: Person
    private let thread: String
    private let message: String

    init() async throws {
        ann = try await Person.make("Ann")
        bob = try await Person.make("Bob")
        thread = try await ann.group(with: [bob])
        message = try await ann.say("hi", in: thread).string("id")
    }

    private var path: String { "/v1/threads/\(thread)/messages/\(message)" }

    /// Percent-encoded, as it must be in a target.
    private func reaction(_ emoji: String) -> String { "\(path)/reactions/\(percentEncoded(emoji))" }

    private func reactions(_ person: Person) async throws -> String {
        try await person.client.get(path)["reactions"].map { String(decoding: $0.compactText.utf8, as: UTF8.self) }
            ?? ""
    }

    @Test("are counted once for each person, and each reader sees which are their own")
    func counts() async throws {
        for _ in 1...2 { #expect(try await ann.client.put("\(path)/reactions/%F0%9F%91%8D").status == 204) }
        #expect(try await bob.client.put(reaction("👍")).status == 204)
        #expect(try await bob.client.put("\(path)/reactions/%E2%9D%A4").status == 204)
        #expect(try await bob.client.put("\(path)/reactions/%E2%9D%A4%EF%B8%8F").status == 204)
        #expect(try await reactions(ann) == #"{"👍":{"count":2,"me":true},"❤️":{"count":1,"me":false}}"#)
        #expect(try await reactions(bob) == #"{"👍":{"count":2,"me":true},"❤️":{"count":1,"me":true}}"#)
        let page = try await ann.client.get("/v1/threads/\(thread)/messages")
        #expect(page["messages.0.reactions.👍.me"] == .bool(true))
        #expect(try await ann.client.get("/v1/inbox")["threads.0.last_message.reactions.❤️.me"] == .bool(false))

        for _ in 1...2 { #expect(try await ann.client.delete(reaction("👍")).status == 204) }
        #expect(try await bob.client.delete(reaction("❤")).status == 204)
        #expect(try await reactions(ann) == #"{"👍":{"count":1,"me":false}}"#)
        #expect(try await bob.client.delete(reaction("👍")).status == 204)
        #expect(try await reactions(ann) == "{}")
    }

    @Test("are listed for each emoji: the people, the latest first, in pages")
    func lists() async throws {
        let cleo = try await Person.make("Cleo")
        #expect(try await ann.client.put("/v1/threads/\(thread)/members/\(cleo.id)", "{}").status == 200)
        for person in [bob, ann, cleo] {
            #expect(try await person.client.put(reaction("👍")).status == 204)
        }
        // Each a second later than the one before.
        let number = "array_position(array['\(bob.id)', '\(ann.id)', '\(cleo.id)'], user_id::text)"
        _ = try await Psql.run(
            """
            update message_reactions set created_at = created_at + \(number) * interval '1 s'
            where thread_id = '\(thread)'
            """, conninfo: try await TestNode.shared().database)
        #expect(try await bob.client.put(reaction("❤️")).status == 204)
        var names: [String] = []
        var query = "?limit=2"
        for count in [2, 1] {
            let page = try await bob.client.get(reaction("👍") + query)
            let users = page["users"]?.array ?? []
            #expect(users.count == count && page["limit"]?.integer == 2)
            names += users.compactMap { $0["name"]?.string }
            query = "?limit=2&page=\(page["next"]?.string ?? "")"
        }
        #expect(names == ["Cleo", "Ann", "Bob"])
        #expect(try await ann.client.get(reaction("❤"))["users.0.id"]?.string == bob.id)
        #expect(try await ann.client.get(reaction("🎉")).text == #"{"users":[],"limit":30}"#)
        #expect(try await ann.client.get("\(path)/reactions/x").errorFields == ["emoji"])
        #expect(try await ann.client.delete("\(path)?for=everyone").status == 204)
        #expect(try await bob.client.get(reaction("👍"))["users"]?.array?.isEmpty == true)
    }

    @Test("are published once to all members, with author and count, and nothing specific to the reader")
    func tells() async throws {
        let cursor = try await ann.client.get("/v1/inbox").string("cursor")
        for _ in 1...2 { _ = try await bob.client.put(reaction("👍")) }
        let edited = try await ann.client.patch(path, #"{"payload":{"text":"ho"}}"#)
        #expect(edited["reactions"]?.object?.first?.value == .object([.init("count", .integer(1))]))
        for _ in 1...2 { _ = try await bob.client.delete(reaction("👍")) }
        for reader in [ann, bob] {
            let sync = try await reader.client.get("/v1/sync?cursor=\(cursor)&wait=0")
            let events = sync["events"]?.array ?? []
            #expect(events.map { $0["type"]?.string } == ["reaction.updated", "message.updated", "reaction.updated"])
            try #require(events.count == 3)
            #expect(events[1]["data"] == edited.json)
            for (event, count) in [(events[0], 1), (events[2], 0)] {
                let data = event["data"]
                #expect(data?["message_id"]?.string == message && data?["user_id"]?.string == bob.id)
                #expect(data?["emoji"]?.string == "👍" && data?["seq"]?.integer == 1)
                #expect(data?["count"]?.integer == Int64(count) && data?["put"] == .bool(count == 1))
            }
        }
    }

    @Test("do not change unread counts or marks")
    func leavesCounts() async throws {
        _ = try await ann.client.put(reaction("👍"))
        let inbox = try await bob.client.get("/v1/inbox")
        #expect(try inbox.integer("threads.0.unread_count") == 1 && inbox.integer("threads.0.head") == 1)
        _ = try await bob.client.put(reaction("👍"))
        #expect(try await bob.client.get("/v1/inbox").integer("unread_total") == 1)
    }

    @Test("are refused for strangers and invited people, on tombstones, and unless they are an emoji")
    func refuses() async throws {
        let eve = try await Person.make("Eve")
        #expect(try await eve.client.put(reaction("👍")).problemCode == "thread_not_found")
        #expect(try await eve.client.delete(reaction("👍")).problemCode == "thread_not_found")
        _ = try await ann.client.put("/v1/threads/\(thread)/members/\(eve.id)", #"{"status":"invited"}"#)
        #expect(try await eve.client.put(reaction("👍")).problemCode == "not_joined")
        for emoji in ["a", "%F0%9F", percentEncoded("👍👍"), "%20", "+1", String(repeating: "x", count: 500)] {
            let reply = try await bob.client.put("\(path)/reactions/\(emoji)")
            #expect(reply.status == 422 && reply.errorFields == ["emoji"], "\(emoji)")
        }
        let missing = "/v1/threads/\(thread)/messages/\(MessageID.make())/reactions/%F0%9F%91%8D"
        #expect(try await bob.client.put(missing).problemCode == "message_not_found")
        #expect(try await bob.client.put(reaction("👍") + "?x=1").errorFields == ["x"])
        #expect(try await bob.client.post(reaction("👍")).headers["allow"] == "PUT, DELETE, GET, HEAD")
        _ = try await ann.client.delete(path)
        #expect(try await bob.client.put(reaction("👍")).problemCode == "message_deleted")
        #expect(try await bob.client.delete(reaction("👍")).status == 204)
    }

    @Test("are limited to 20 kinds on a message, with any number of each")
    func bounds() async throws {
        let animals = (0..<21).compactMap { Unicode.Scalar(0x1F400 + UInt32($0)) }.map { String($0) }
        for animal in animals.prefix(20) {
            #expect(try await ann.client.put(reaction(animal)).status == 204)
        }
        let more = try await ann.client.put(reaction(animals[20]))
        #expect(more.status == 422 && more.errorFields == ["emoji"])
        #expect(try await bob.client.put(reaction(animals[0])).status == 204)
        _ = try await ann.client.delete(reaction(animals[5]))
        #expect(try await ann.client.put(reaction(animals[20])).status == 204)
    }
}
