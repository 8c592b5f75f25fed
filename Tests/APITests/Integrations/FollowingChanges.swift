// GET /v1/admin/changes: the log as integrations see it.
import Domain
import TestSupport
import Testing

@Suite("Following changes", .timeLimit(.minutes(1)))
struct FollowingChanges {
    private static let path = "/v1/admin/changes"

    private static func admin() async throws -> Client { try await Client(token: TestNode.adminToken) }

    /// The end of the log.
    private static func now() async throws -> String { try await admin().get(path).string("cursor") }

    private static func read(_ query: String) async throws -> Reply {
        try await admin().get(path + "?wait=0&" + query)
    }

    /// Polls and streams that the node serves.
    private static func readerCount() async throws -> Double {
        let page = try PrometheusPage(try await Client().get("/metrics").text)
        return try #require(page.families["parley_changes_readers"]?.samples.first?.value)
    }

    private static func types(_ reply: Reply) -> [String] {
        (reply["events"]?.array ?? []).map { $0["type"]?.string ?? "" }
    }

    @Test("returns each event once, with the acting user, and continues from the answer's cursor")
    func each() async throws {
        let start = try await Self.admin().get(Self.path)
        #expect(start["events"]?.array?.isEmpty == true && start["more"] == .bool(false))
        let (ann, ben) = (try await Person.make("Ann"), try await Person.make("Ben"))
        let thread = try await ann.group(with: [ben])
        let message = try await ann.say("hi", in: thread).string("id")
        let path = "/v1/threads/\(thread)"
        #expect(try await ben.client.put("\(path)/messages/\(message)/reactions/%F0%9F%91%8D").status == 204)
        #expect(try await ben.client.put("\(path)/receipts", #"{"read":1}"#).status == 204)
        #expect(try await ann.client.patch(path, #"{"title":"New"}"#).status == 200)
        #expect(try await ann.client.patch("\(path)/settings", #"{"pinned":true}"#).status == 200)
        #expect(try await ann.client.delete("\(path)/messages/\(message)?for=everyone").status == 204)
        let read = try await Self.read("cursor=\(start.string("cursor"))")
        #expect(
            Self.types(read) == [
                "thread.created", "message.created", "reaction.updated", "receipt.updated", "thread.updated",
                "message.created", "message.deleted",
            ])
        let events = try #require(read["events"]?.array)
        #expect(events.allSatisfy { $0["thread_id"]?.string == thread && $0["at"]?.string != nil })
        #expect(events.map { $0["actor"]?.string } == [ann.id, ann.id, ben.id, ben.id, ann.id, nil, ann.id])
        let ids = events.compactMap { $0["id"]?.string }
        #expect(ids.allSatisfy { EventID(parsing: $0) != nil } && Set(ids).count == events.count)
        // The content went when it was deleted.
        #expect(events[1]["data"]?["payload"] == .null && !read.text.contains("pinned"))
        let again = try await Self.read("cursor=\(start.string("cursor"))")
        #expect(again.text == read.text)
        let next = try await Self.read("cursor=\(read.string("cursor"))")
        #expect(next["events"]?.array?.isEmpty == true && next["cursor"] == read["cursor"])
    }

    @Test("comes in parts of `limit` events, and says whether there are more")
    func parts() async throws {
        var cursor = try await Self.now()
        let ann = try await Person.make("Ann")
        let thread = try await ann.group()
        for number in 1...4 { try await ann.say("m\(number)", in: thread) }
        var sizes: [Int] = []
        var more = true
        while more {
            let part = try await Self.read("cursor=\(cursor)&limit=2")
            sizes.append(part["events"]?.array?.count ?? 0)
            more = part["more"] == .bool(true)
            cursor = try part.string("cursor")
        }
        #expect(sizes == [2, 2, 1])
    }

    @Test("waits for an event, and for `wait` seconds at most")
    func waits() async throws {
        let ann = try await Person.make("Ann")
        let thread = try await ann.group()
        let cursor = try await Self.now()
        let clock = ContinuousClock()
        let begun = clock.now
        let readerCount = try await Self.readerCount()
        async let waiting = Self.admin().get("\(Self.path)?cursor=\(cursor)&wait=50&types=message.created")
        try await eventually("the poll") { try await Self.readerCount() > readerCount }
        // An event of another type does not end the wait.
        #expect(try await ann.client.patch("/v1/threads/\(thread)", #"{"title":"New"}"#).status == 200)
        try await ann.say("now", in: thread)
        let woken = try await waiting
        #expect(Set(Self.types(woken)) == ["message.created"])
        #expect(clock.now - begun < .seconds(45), "An event ends the wait of 50 s.")
        let last = try await Self.now()
        let later = clock.now
        let quiet = try await Self.admin().send("GET", "\(Self.path)?cursor=\(last)", headers: ["Prefer: wait=1"])
        #expect(quiet["events"]?.array?.isEmpty == true && quiet["cursor"] == .string(last))
        #expect(quiet.headers["preference-applied"] == "wait=1" && clock.now - later >= .milliseconds(950))
        #expect(quiet.headers["cache-control"] == "no-store")
    }

    @Test("returns the wanted types only, and moves the cursor past the others")
    func filters() async throws {
        let cursor = try await Self.now()
        let ann = try await Person.make("Ann")
        let thread = try await ann.group()
        try await ann.say("hi", in: thread)
        #expect(try await ann.client.patch("/v1/users/me", #"{"name":"Anna"}"#).status == 200)
        let some = try await Self.read("cursor=\(cursor)&types=thread.created,user.updated")
        #expect(Self.types(some) == ["thread.created", "user.updated"])
        #expect(some["events.1.data.name"] == .string("Anna") && some["events.1.actor"] == .string(ann.id))
        #expect(some["events.1.thread_id"] == nil && some["events.1.data.preferences"] == nil)
        let none = try await Self.read("cursor=\(cursor)&types=session.revoked")
        #expect(Self.types(none).isEmpty && none["more"] == .bool(false) && none["cursor"] == some["cursor"])
    }

    @Test("begins at a time with `since`")
    func since() async throws {
        let ann = try await Person.make("Ann")
        let thread = try await ann.group()
        try await ann.say("before", in: thread)
        // Times are whole milliseconds. The next message shall have another one.
        try await Task.sleep(for: .milliseconds(2))
        let second = try await ann.say("second", in: thread).string("timestamp")
        try await ann.say("third", in: thread)
        let read = try await Self.read("since=\(second)")
        // The feed has the events of the tests beside this one, too.
        let own = (read["events"]?.array ?? []).filter { $0["thread_id"]?.string == thread }
        #expect(own.compactMap { $0["data"]?["payload"]?["text"]?.string }.suffix(2) == ["second", "third"])
        // The feed begins with the first event of that time or later. An event of another thread may come before and yet
        // be later, because the times in a thread never decrease.
        #expect(try #require(read["events.0.at"]?.string) >= second)
        #expect(try await Self.read("since=2999-01-01T00:00:00Z")["events"]?.array?.isEmpty == true)
        // The oldest kept at the earliest.
        let all = try await Self.read("since=1970-01-01T00:00:00Z&limit=1")
        #expect(all["more"] == .bool(true) && all["events"]?.array?.count == 1)
    }

    @Test(
        "refuses what it cannot read, and names the parameter",
        arguments: [
            ("cursor=abc", "cursor"), ("cursor=", "cursor"), ("types=", "types"), ("types=message.sent", "types"),
            ("types=message.created,,user.updated", "types"), ("types=settings.updated", "types"),
            ("since=yesterday", "since"), ("wait=56", "wait"), ("limit=201", "limit"), ("limit=0", "limit"),
            ("consumer=", "consumer"), ("consumer=A", "consumer"), ("page=x", "page"),
        ])
    func refuses(query: String, field: String) async throws {
        let reply = try await Self.admin().get("\(Self.path)?\(query)")
        #expect(reply.status == 422 && reply.errorFields == [field], "\(reply.text)")
    }

    @Test("begins in one place: `cursor`, `since` or `consumer`")
    func onePlace() async throws {
        let cursor = try await Self.now()
        let time = "2026-01-01T00:00:00Z"
        #expect(try await Self.read("cursor=\(cursor)&since=\(time)").errorFields == ["since"])
        #expect(try await Self.read("cursor=\(cursor)&consumer=a").errorFields == ["consumer"])
        #expect(try await Self.read("since=\(time)&consumer=a").errorFields == ["consumer"])
    }

    @Test("refuses a cursor that the log does not know, with one from which nothing is missed")
    func expires() async throws {
        let end = try #require(Cursor(parsing: try await Self.now()))
        let unknown = Cursor(epoch: end.epoch &+ 70_000, position: end.position)
        let future = Cursor(epoch: end.epoch, position: Position(end.position.value + 1_000_000))
        for cursor in [unknown, future] {
            let reply = try await Self.read("cursor=\(cursor)")
            #expect(reply.status == 410 && reply.problemCode == "cursor_expired")
            let next = try await Self.read("cursor=\(reply.string("cursor"))&limit=1")
            #expect(next.status == 200)
        }
    }

    @Test("needs the admin token")
    func needsToken() async throws {
        let ann = try await Person.make("Ann")
        #expect(try await Client().get(Self.path).problemCode == "unauthenticated")
        for token in [ann.client.token ?? "", TestNode.adminToken + "x"] {
            #expect(try await Client(token: token).get(Self.path).problemCode == "invalid_token")
            #expect(try await Client(token: token).get("/v1/admin/consumers").problemCode == "invalid_token")
        }
        #expect(try await Self.admin().post(Self.path).status == 405)
        #expect(try await Self.admin().send("HEAD", Self.path).status == 200)
    }
}
