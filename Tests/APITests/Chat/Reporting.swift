// Reports of messages and people, and the moderators' queue.
import Domain
import TestSupport
import Testing

@Suite("Reporting", .timeLimit(.minutes(1)))
struct Reporting {
    private let ann: Person
    private let bob: Person
    private let admin: Client
    private let thread: String

    init() async throws {
        ann = try await Person.make("Ann")
        bob = try await Person.make("Bob")
        admin = try await Client(token: TestNode.adminToken)
        thread = try await ann.group(with: [bob])
    }

    private func sql(_ statement: String) async throws -> String {
        try await Psql.run(statement, conninfo: TestNode.shared().database)
    }

    private func report(_ message: String, by person: Person? = nil, in thread: String? = nil) async throws -> Reply {
        try await (person ?? ann).client.post(
            "/v1/reports", #"{"thread_id":"\#(thread ?? self.thread)","message_id":"\#(message)","reason":"Insults"}"#)
    }

    /// The report as moderators see it.
    private func shown(_ report: Reply) async throws -> JSONValue {
        let id = try report.string("id")
        let all = try await admin.get("/v1/admin/reports?limit=200")["reports"]?.array ?? []
        return try #require(all.first { $0["id"]?.string == id })
    }

    private func close(_ report: Reply, _ state: String = "resolved") async throws -> Reply {
        try await admin.patch("/v1/admin/reports/\(report.string("id"))", #"{"state":"\#(state)"}"#)
    }

    @Test("shows moderators the message as it was, whatever its sender writes then")
    func message() async throws {
        let sent = try await bob.say("You fool", in: thread)
        let id = try sent.string("id")
        let report = try await report(id)
        #expect(report.status == 201 && report["state"] == .string("open") && report["user_id"] == .string(bob.id))
        #expect(report["reason"] == .string("Insults") && report["message_id"] == .string(id))
        let edit = try await bob.client.patch("/v1/threads/\(thread)/messages/\(id)", #"{"payload":{"text":"Hello"}}"#)
        #expect(edit.status == 200)
        let shown = try await shown(report)
        #expect(shown["message"]?["payload"]?["text"] == .string("You fool") && shown["message"]?["seq"]?.integer == 1)
        #expect(shown["message"]?["timestamp"] == sent["timestamp"] && shown["message"]?["edited_at"] == .null)
        #expect(shown["reporter"]?["id"] == .string(ann.id) && shown["user"]?["name"] == .string("Bob"))
        #expect(shown["closed_at"] == .null)
    }

    @Test("creates one open report for one person and subject, and another one after it is closed")
    func once() async throws {
        let id = try await bob.say("You fool", in: thread).string("id")
        let first = try await report(id)
        let again = try await report(id)
        #expect(again.status == 200 && again["id"] == first["id"])
        let user = #"{"user_id":"\#(bob.id)","reason":"Spam"}"#
        let person = try await ann.client.post("/v1/reports", user)
        #expect(person.status == 201 && person["id"] != first["id"] && person["message_id"] == .null)
        #expect(try await ann.client.post("/v1/reports", user).status == 200)
        let cat = try await Person.make("Cat")
        #expect(try await cat.client.post("/v1/reports", user).status == 201)
        async let both = [
            report(bob.say("2", in: thread).string("id"), by: bob), report(id, by: bob), report(id, by: bob),
        ]
        #expect(try await both.map(\.status).reduce(0, +) == 201 + 401)
        #expect(try await close(first).status == 200)
        #expect(try await report(id).status == 201)
        #expect(try await sql("select count(*) from reports where reporter_id = '\(ann.id)'") == "3")
    }

    @Test("is possible for what one sees, and answers all else as what does not exist")
    func visibility() async throws {
        let id = try await bob.say("secret", in: thread).string("id")
        let cat = try await Person.make("Cat")
        let (nowhere, nothing) = (ThreadID.make().description, MessageID.make().description)
        let hidden = try await report(id, by: cat)
        let missing = try await report(nothing, by: cat, in: nowhere)
        #expect(hidden.problemCode == "thread_not_found" && hidden.status == 404 && hidden.text == missing.text)
        #expect(try await report(nothing).problemCode == "message_not_found")
        #expect(try await bob.client.delete("/v1/threads/\(thread)/messages/\(id)?for=me").status == 204)
        #expect(try await report(id, by: bob).text == report(nothing, by: bob).text)
        let gone = try await Person.make("Gone")
        #expect(try await gone.client.delete("/v1/users/me").status == 204)
        for user in [gone.id, UserID.make().description] {
            let reply = try await ann.client.post("/v1/reports", #"{"user_id":"\#(user)","reason":"x"}"#)
            #expect(reply.status == 404 && reply.problemCode == "user_not_found")
        }
        #expect(
            try await ann.client.put("/v1/threads/\(thread)/members/\(cat.id)", #"{"status":"invited"}"#).status == 200)
        #expect(try await report(id, by: cat).problemCode == "not_joined")
        #expect(try await ann.client.delete("/v1/threads/\(thread)/messages/\(id)").status == 204)
        #expect(try await report(id).problemCode == "message_deleted")
    }

    @Test(
        "names mistakes",
        arguments: [
            ("{}", ["message_id", "reason", "thread_id"]), (#"{"reason":"x"}"#, ["message_id", "thread_id"]),
            (#"{"user_id":"x","reason":""}"#, ["reason", "user_id"]),
            (#"{"user_id":"018f3c2a-1234-7abc-8def-0123456789ab"}"#, ["reason"]),
            (
                #"{"user_id":"018f3c2a-1234-7abc-8def-0123456789ab","thread_id":"x","message_id":"x","reason":"a"}"#,
                ["message_id", "thread_id"]
            ),
            (#"{"user_id":"018f3c2a-1234-7abc-8def-0123456789ab","reason":"a","why":"b"}"#, ["why"]),
            (#"{"user_id":"018f3c2a-1234-7abc-8def-0123456789ab","reason":7}"#, ["reason"]),
            (#"{"user_id":"018f3c2a-1234-7abc-8def-0123456789ab","reason":" \n"}"#, ["reason"]),
        ])
    func mistakes(_ body: String, _ fields: [String]) async throws {
        #expect(try await ann.client.post("/v1/reports", body).errorFields.sorted() == fields)
    }

    @Test("accepts a reason of 1,000 characters in several lines")
    func reasons() async throws {
        func reply(_ count: Int) async throws -> Reply {
            let reason = String(repeating: "ä", count: count - 3) + "\\n\\nb"
            return try await ann.client.post("/v1/reports", #"{"user_id":"\#(bob.id)","reason":"\#(reason)"}"#)
        }
        #expect(try await reply(1_001).errorFields == ["reason"])
        #expect(try await reply(1_000).status == 201)
    }

    @Test("has a queue by state, newest first, in pages; closing is recorded")
    func queue() async throws {
        let (first, second) = (
            try await report(bob.say("1", in: thread).string("id")),
            try await report(bob.say("2", in: thread).string("id"))
        )
        let page = try await admin.get("/v1/admin/reports?state=open&limit=1")
        #expect(page["reports.0.id"] == second["id"] && page["limit"]?.integer == 1)
        let next = try await admin.get("/v1/admin/reports?state=open&limit=1&page=\(page.string("next"))")
        #expect(next["reports.0.id"] == first["id"])
        let closed = try await admin.send(
            "PATCH", "/v1/admin/reports/\(first.string("id"))", body: #"{"state":"dismissed"}"#,
            headers: ["Parley-Actor: Kim"])
        #expect(closed.status == 200 && closed["state"] == .string("dismissed") && closed["closed_at"]?.string != nil)
        // The same again changes nothing, and is not recorded.
        #expect(try await close(first, "dismissed")["closed_at"] == closed["closed_at"])
        #expect(try await admin.get("/v1/admin/reports?state=dismissed&limit=1")["reports.0.id"] == first["id"])
        #expect(try await close(first, "open")["closed_at"] == .null)
        #expect(try await close(second).status == 200)
        let entries = try await admin.get("/v1/admin/audit?limit=200")["entries"]?.array ?? []
        let acts = entries.filter { $0["user_id"]?.string == bob.id }
        #expect(acts.map { $0["action"]?.string } == ["report.resolve", "report.reopen", "report.dismiss"])
        #expect(acts.last?["actor"] == .string("Kim") && acts.last?["message_id"] == first["message_id"])
        #expect(try await admin.get("/v1/admin/reports?state=new").errorFields == ["state"])
        #expect(try await close(first, "new").errorFields == ["state"])
        #expect(try await admin.patch("/v1/admin/reports/x", #"{"state":"open"}"#).problemCode == "report_not_found")
        #expect(
            try await admin.patch("/v1/admin/reports/\(UserID.make())", #"{"state":"open"}"#).problemCode
                == "report_not_found")
    }

    @Test("keeps the copy of a deleted message until the report is closed")
    func deletion() async throws {
        let id = try await bob.say("You fool", in: thread).string("id")
        let (open, closed) = (try await report(id), try await report(id, by: bob))
        #expect(try await close(closed)["message"] != .null)
        #expect(try await bob.client.delete("/v1/threads/\(thread)/messages/\(id)").status == 204)
        #expect(try await shown(open)["message"]?["payload"]?["text"] == .string("You fool"))
        #expect(try await shown(closed)["message"] == .null)
        #expect(try await close(open)["message"] == .null)
    }

    @Test("deletes the copy when the message expires, also of a message that was deleted before")
    func expiry() async throws {
        let sent = try await bob.client.post(
            "/v1/threads/\(thread)/messages", #"{"payload":{"text":"You fool"},"expires_in_s":60}"#)
        let deleted = try await bob.client.post(
            "/v1/threads/\(thread)/messages", #"{"payload":{"text":"You ape"},"expires_in_s":60}"#)
        let reports = [try await report(sent.string("id")), try await report(deleted.string("id"))]
        #expect(try await bob.client.delete("/v1/threads/\(thread)/messages/\(deleted.string("id"))").status == 204)
        for report in reports { #expect(try await shown(report)["message"] != .null) }
        _ = try await sql("select retention_expire(1000, now() + interval '61 s')")
        for report in reports { #expect(try await shown(report)["message"] == .null) }
        #expect(try await shown(reports[0])["user"]?["id"] == .string(bob.id))
    }

    @Test("deletes the copy once content that is kept until delivery is delivered")
    func delivery() async throws {
        let relay = try await ann.client.post(
            "/v1/threads", #"{"kind":"group","members":["\#(bob.id)"],"retention":{"keep":"until_delivered"}}"#
        ).string("id")
        let report = try await report(bob.say("You fool", in: relay).string("id"), in: relay)
        #expect(try await shown(report)["message"] != .null)
        _ = try await sql("select retention_settle(100, 30, now() + interval '31 days')")
        #expect(try await shown(report)["message"] == .null)
    }

    @Test("forgets an erased sender's words, and an erased reporter with the reason")
    func erasure() async throws {
        let report = try await report(bob.say("You fool", in: thread).string("id"))
        let export = try await ann.client.get("/v1/users/me/export")
        let id = try report.string("id")
        #expect(export.text.contains("Insults") && export.text.contains(id))
        #expect(try await bob.client.delete("/v1/users/me").status == 204)
        var shown = try await shown(report)
        #expect(shown["message"] == .null && shown["user"]?["name"] == .string("Deleted user"))
        #expect(shown["reason"] == .string("Insults"))
        #expect(try await ann.client.delete("/v1/users/me").status == 204)
        shown = try await self.shown(report)
        #expect(shown["reporter"] == .null && shown["reason"] == .null && shown["state"] == .string("open"))
    }
}
