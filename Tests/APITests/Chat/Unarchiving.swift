// A message that alerts somebody takes the thread out of their archive.
import Domain
import TestSupport
import Testing

@Suite("Messages to archived threads", .timeLimit(.minutes(1)))
struct MessagesToArchivedThreads {
    private let ann: Person
    private let bob: Person
    private let thread: String

    init() async throws {
        ann = try await Person.make("Ann")
        bob = try await Person.make("Bob")
        thread = try await ann.group(with: [bob])
    }

    private func set(_ settings: String) async throws {
        #expect(try await bob.client.patch("/v1/threads/\(thread)/settings", settings).status == 200)
    }

    private func isArchived() async throws -> Bool? {
        try await bob.client.get("/v1/threads/\(thread)")["me.archived"]?.bool
    }

    @Test("take them out of the receiver's archive: an event after the message, to the receiver's devices alone")
    func publishes() async throws {
        try await ann.say("before", in: thread)
        try await set(#"{"archived":true,"pinned":true}"#)
        let start = try await bob.client.get("/v1/sync").string("cursor")
        try await ann.say("hello", in: thread)
        let events = try await bob.client.get("/v1/sync?wait=5&cursor=\(start)")["events"]?.array ?? []
        #expect(events.map { $0["type"]?.string } == ["message.created", "settings.updated"])
        let settings = try #require(events.last?["data"])
        #expect(settings["archived"] == .bool(false) && settings["pinned"] == .bool(true))
        #expect(settings["unread_count"]?.integer == 2)
        #expect(try await isArchived() == false)
        #expect(try await ann.eventTypes(since: start) == ["message.created"])
        // Nobody has archived it now, so the next message looks for nobody.
        let flag = try await Psql.run(
            "select coalesce(has_archived::text, '-') from threads where id = '\(thread)'",
            conninfo: try await TestNode.shared().database)
        #expect(flag == "-")
        try await ann.say("again", in: thread)
        #expect(try await bob.eventTypes(since: start).filter { $0 == "settings.updated" }.count == 1)
    }

    @Test("leave them there if they alert nobody: muted, not mentioned, no alerts, or one's own")
    func stays() async throws {
        try await set(#"{"archived":true,"muted_until":"2099-01-01T00:00:00Z"}"#)
        try await ann.say("muted", in: thread)
        #expect(try await isArchived() == true)
        try await set(#"{"muted_until":null,"notify":"none"}"#)
        try await ann.say("none", in: thread)
        #expect(try await isArchived() == true)
        try await set(#"{"notify":"all"}"#)
        try await bob.say("my own", in: thread)
        #expect(try await isArchived() == true)
        try await set(#"{"notify":"mentions"}"#)
        try await ann.say("not you", in: thread)
        #expect(try await isArchived() == true)
        let mention = #"{"payload":{"text":"@Bob"},"mentions":["\#(bob.id)"]}"#
        #expect(try await ann.client.post("/v1/threads/\(thread)/messages", mention).status == 201)
        #expect(try await isArchived() == false)
    }

    @Test("take them out once a mute has ended, and not by a message that was refused")
    func refused() async throws {
        try await set(#"{"archived":true,"muted_until":"2020-01-01T00:00:00Z"}"#)
        let refused = #"{"payload":{"text":"x"},"reply_to":"\#(MessageID.make())"}"#
        #expect(try await ann.client.post("/v1/threads/\(thread)/messages", refused).status == 422)
        #expect(try await isArchived() == true)
        try await ann.say("hello", in: thread)
        #expect(try await isArchived() == false)
    }
}
