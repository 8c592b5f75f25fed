// Messages that expire: how they are shown before, and what remains of them afterwards. This node has no expiry worker:
// the tests expire messages themselves, so that they control the time.
import Domain
import TestSupport
import Testing

@Suite("Disappearing messages", .timeLimit(.minutes(1)))
struct DisappearingMessages {
    private let ann: Person
    private let bob: Person

    init() async throws {
        ann = try await Person.make("Ann")
        bob = try await Person.make("Bob")
    }

    private func sql(_ statement: String) async throws -> String {
        try await Psql.run(statement, conninfo: TestNode.shared().database)
    }

    private func thread(_ retention: String) async throws -> String {
        let made = try await ann.client.post(
            "/v1/threads", #"{"kind":"group","members":["\#(bob.id)"],"retention":\#(retention)}"#)
        #expect(
            made.status == 201 && made["retention"] == (try? JSONReader.read(Array(retention.utf8))), "\(made.text)")
        return try made.string("id")
    }

    private func say(_ text: String, in thread: String, _ more: String = "") async throws -> Reply {
        let reply = try await ann.client.post(
            "/v1/threads/\(thread)/messages", #"{"payload":{"text":"\#(text)"}\#(more)}"#)
        #expect(reply.status == 201, "\(reply.text)")
        return reply
    }

    /// The seconds from sending to expiry; nil if the message never expires.
    private func keptS(_ message: Reply) throws -> Double? {
        guard let expires = message["expires_at"]?.string else { return nil }
        let sent = try Timestamp(text: try message.string("timestamp"))
        return Double(try Timestamp(text: expires).microsSince1970 - sent.microsSince1970) / 1e6
    }

    @Test("have an expiry: their own or the thread's, whichever comes first")
    func says() async throws {
        let forever = try await thread(#"{"keep":"forever"}"#)
        #expect(try keptS(await say("a", in: forever)) == nil)
        #expect(try keptS(await say("b", in: forever, #","expires_in_s":null"#)) == nil)
        #expect(try keptS(await say("c", in: forever, #","expires_in_s":90"#)) == 90)
        let day = try await thread(#"{"keep":"seconds","seconds":86400}"#)
        #expect(try keptS(await say("a", in: day)) == 86400)
        #expect(try keptS(await say("b", in: day, #","expires_in_s":90"#)) == 90)
        #expect(try keptS(await say("c", in: day, #","expires_in_s":90000"#)) == 86400)
        let relay = try await thread(#"{"keep":"until_delivered"}"#)
        #expect(try keptS(await say("a", in: relay)) == nil)
        #expect(try keptS(await say("b", in: relay, #","expires_in_s":90"#)) == 90)
    }

    @Test(
        "follow the thread's setting, which members who may change the title can set for later messages"
    )
    func changes() async throws {
        let thread = try await thread(#"{"keep":"forever"}"#)
        let before = try await say("a", in: thread).string("id")
        let cursor = try await bob.client.get("/v1/inbox").string("cursor")
        let path = "/v1/threads/\(thread)"
        let body = #"{"retention":{"keep":"seconds","seconds":60}}"#
        #expect(try await bob.client.patch(path, body).status == 403)
        let changed = try await ann.client.patch(path, body)
        #expect(try changed.integer("retention.seconds") == 60)
        let events = try await bob.client.get("/v1/sync?cursor=\(cursor)&wait=0")
        #expect(try events.string("events.0.type") == "thread.updated")
        #expect(events["events.0.data.retention"] == changed["retention"])
        #expect(events["events.1"] == nil)
        #expect(try keptS(await ann.client.get("\(path)/messages/\(before)")) == nil)
        #expect(try keptS(await say("b", in: thread)) == 60)
        #expect(try await ann.client.patch(path, #"{"retention":null,"title":"T"}"#).integer("retention.seconds") == 60)
        #expect(
            try await ann.client.patch(path, #"{"retention":{"keep":"forever"}}"#).string("retention.keep") == "forever"
        )
        #expect(try keptS(await say("c", in: thread)) == nil)
    }

    @Test("can be set by either person of a direct thread, and when a room is created")
    func otherKinds() async throws {
        let direct = try await ann.client.post("/v1/threads", #"{"kind":"direct","members":["\#(bob.id)"]}"#).string(
            "id")
        let body = #"{"retention":{"keep":"until_delivered"}}"#
        #expect(try await bob.client.patch("/v1/threads/\(direct)", body).string("retention.keep") == "until_delivered")
        let title = "Room \(ann.username)"
        let room = #"{"kind":"room","title":"\#(title)","retention":{"keep":"seconds","seconds":5}}"#
        #expect(try await ann.client.post("/v1/threads", room).integer("retention.seconds") == 5)
        // An existing room keeps its setting.
        let again = try await bob.client.post("/v1/threads", #"{"kind":"room","title":"\#(title)"}"#)
        #expect(again.status == 200)
        #expect(try again.integer("retention.seconds") == 5)
    }

    @Test(
        "reject invalid times",
        arguments: ["0", "-1", "1.5", "315360001", #""60""#, "true"])
    func refuses(_ time: String) async throws {
        let thread = try await ann.group()
        let reply = try await ann.client.post(
            "/v1/threads/\(thread)/messages", #"{"payload":{"text":"x"},"expires_in_s":\#(time)}"#)
        #expect(reply.errorFields == ["expires_in_s"])
    }

    @Test("become tombstones like deleted messages: published, not counted, not found")
    func expires() async throws {
        let thread = try await ann.group(with: [bob])
        let path = "/v1/threads/\(thread)/messages"
        let id = try await say("evanescent", in: thread, #","expires_in_s":3600,"mentions":["\#(bob.id)"]"#).string(
            "id")
        let other = try await say("evanescent too", in: thread, #","expires_in_s":7200"#).string("id")
        _ = try await ann.client.put("\(path)/\(id)/reactions/%F0%9F%91%8D")
        _ = try await ann.client.patch("\(path)/\(id)", #"{"payload":{"text":"evanescent again"}}"#)
        let cursor = try await bob.client.get("/v1/inbox").string("cursor")
        // Expires messages of other tests.
        _ = try await sql("select retention_expire(1000, now() + interval '3500 seconds')")
        #expect(try await bob.client.get("\(path)/\(id)")["deleted_at"] == .null)
        #expect(try await sql("select retention_expire(100, now() + interval '3601 seconds')") == "1")
        let gone = try await bob.client.get("\(path)/\(id)")
        #expect(gone["payload"] == .null && gone["deleted_at"]?.string != nil)
        #expect(gone["mentions"] == .array([]) && gone["reactions"] == .object([]))
        let events = try await bob.client.get("/v1/sync?cursor=\(cursor)&wait=0")
        #expect(try events.string("events.0.type") == "message.deleted")
        #expect(events["events.0.data"] == gone.json)
        let inbox = try await bob.client.get("/v1/inbox")
        #expect(try inbox.integer("unread_total") == 1)
        #expect(try inbox.integer("threads.0.mention_count") == 0)
        let found = try await bob.client.get("/v1/search?q=evanescent")
        #expect(found["results"]?.array?.compactMap { $0["message"]?["id"]?.string } == [other])
        // Neither the message nor its earlier version.
        let left = "select count(*) from events where body like '%evanescent%' and body like '%\(id)%'"
        #expect(try await sql(left) == "0")
        #expect(try await sql("select retention_expire(100, now() + interval '3601 seconds')") == "0")
        // As for a deleted message: a retried send returns the tombstone.
        let again = try await ann.client.post(path, #"{"id":"\#(id)","payload":{"text":"evanescent"}}"#)
        #expect(again.status == 200 && again["payload"] == .null)
    }

    @Test("deleted before their expiry stay as they are at the expiry")
    func deletedBefore() async throws {
        let thread = try await ann.group()
        let path = "/v1/threads/\(thread)/messages"
        let id = try await say("x", in: thread, #","expires_in_s":3600"#).string("id")
        #expect(try await ann.client.delete("\(path)/\(id)").status == 204)
        let cursor = try await ann.client.get("/v1/inbox").string("cursor")
        let tombstone = try await ann.client.get("\(path)/\(id)").text
        #expect(try await sql("select retention_expire(100, now() + interval '3601 seconds')") == "1")
        #expect(try await ann.client.get("/v1/sync?cursor=\(cursor)&wait=0")["events"] == .array([]))
        #expect(try await ann.client.get("\(path)/\(id)").text == tombstone)
    }

    @Test("are kept for a member without a device, even when an earlier message is edited later")
    func keepsForTheAbsent() async throws {
        let thread = try await thread(#"{"keep":"until_delivered"}"#)
        let first = try await say("1", in: thread).string("id")
        for text in ["2", "3"] { _ = try await say(text, in: thread) }
        _ = try await ann.client.patch("/v1/threads/\(thread)/messages/\(first)", #"{"payload":{"text":"1, edited"}}"#)
        _ = try await say("4", in: thread)
        let free = try await sql(
            """
            insert into device_marks select s.id, '\(thread)', 1000000000 from sessions s where s.user_id = '\(ann.id)';
            delete from sessions where user_id = '\(bob.id)';
            update members set delivered_seq = 2 where thread_id = '\(thread)' and user_id = '\(bob.id)';
            select undelivered_free('\(thread)', 10, now() - interval '30 days');
            """)
        #expect(free == "{2}")
    }
}
