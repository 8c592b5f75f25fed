// POST /v1/admin/import: what an archive becomes, what is refused, and what a repetition changes.
import Domain
import NIOCore
import TestSupport
import Testing

@Suite("Importing archives", .timeLimit(.minutes(1)))
struct ImportingArchives {
    private static let type = "application/x-ndjson"

    private func send(_ text: String, _ query: String = "") async throws -> Reply {
        try await Client(token: TestNode.adminToken).send(
            "POST", "/v1/admin/import" + query, body: text, type: Self.type)
    }

    /// A client of an imported account, which gets a session from an administrator.
    private func signIn(_ user: UserID) async throws -> Client {
        let reply = try await Client(token: TestNode.adminToken).post("/v1/admin/users/\(user)/sessions")
        return try await Client(token: reply.string("session.token"))
    }

    private func count(_ sql: String) async throws -> String {
        try await Psql.run(sql, conninfo: TestNode.shared().database)
    }

    @Test("creates accounts, threads and messages that look as if they had always been here")
    func everything() async throws {
        let archive = SampleArchive()
        let reply = try await send(archive.text)
        #expect(reply.status == 200, "\(reply.text)")
        #expect(reply["applied"] == .bool(true) && reply["dry_run"] == .bool(false) && reply["complete"] == .bool(true))
        #expect(reply["added.messages"]?.integer == 6 && reply["added.members"]?.integer == 5)
        #expect(reply["left_out_count"]?.integer == 0, "\(reply.text)")

        let ann = try await signIn(archive.ann)
        let inbox = try await ann.get("/v1/inbox")
        let threads = inbox["threads"]?.array ?? []
        #expect(threads.count == 3 && inbox["unread_total"]?.integer == 0, "\(inbox.text)")
        let group = try #require(threads.first { $0["id"]?.string == archive.group.description })
        #expect(group["head"]?.integer == 5 && group["me"]?["role"]?.string == "owner")
        #expect(group["me"]?["pinned"] == .bool(true) && group["me"]?["read_seq"]?.integer == 5)
        #expect(group["external_id"]?.string == "trip|\(archive.word)")
        #expect(
            group["custom"] == .object([.init("a", .null)]) && group["labels"] == .array([.string("z"), .string("a")]))
        #expect(group["me"]?["custom"] == .object([.init("n", .null)]))
        #expect(group["me"]?["labels"] == .array([.string("work")]))
        #expect(try await ann.get("/v1/users/me")["custom.a"] == .null)
        // She deleted the last one for herself.
        #expect(group["last_message"]?["seq"]?.integer == 4)
        let page = try await ann.get("/v1/threads/\(archive.group)/messages")
        let messages = page["messages"]?.array ?? []
        #expect(messages.compactMap { $0["id"]?.string } == archive.messages.prefix(4).map(\.description))
        #expect(messages.map { $0["seq"]?.integer } == [1, 2, 3, 4])
        // The second message was written with an earlier time.
        #expect(
            messages.prefix(2).map { $0["timestamp"]?.string } == [
                "2020-03-03T00:00:00.000Z", "2020-03-03T00:00:00.000Z",
            ])
        #expect(messages[1]["reactions"]?["👍"]?["count"]?.integer == 1 && messages[1]["edited_at"]?.string != nil)
        #expect(messages[1]["reply_to"]?.string == archive.messages[0].description)
        #expect(messages[2]["deleted_at"]?.string != nil && messages[2]["payload"] == .null)
        #expect(messages[0]["payload"]?["attachments"]?.array?.first?["size"]?.integer == Int64(archive.bytes.count))
        let file = try await ann.get("/v1/attachments/\(archive.file)")
        #expect(file.status == 200 && file.body == archive.bytes)
        let found = try await ann.get("/v1/search?q=\(archive.word)")
        #expect(found["results"]?.array?.count == 1, "\(found.text)")
        let members = try await ann.get("/v1/threads/\(archive.group)/members")
        let bob = members["members"]?.array?.first { $0["user"]?["id"]?.string == archive.bob.description }
        #expect(bob?["read_seq"]?.integer == 2 && bob?["read_at"]?.string == "2020-03-03T00:00:00.000Z")
        #expect(try await ann.get("/v1/users/me/blocks")["blocks"]?.array?.count == 1)
        #expect(try await ann.get("/v1/users?query=\(archive.word)")["users"]?.array?.count == 1)

        // The conversation continues.
        let sent = try await ann.post("/v1/threads/\(archive.group)/messages", #"{"payload":{"text":"six"}}"#)
        #expect(sent.status == 201 && sent["seq"]?.integer == 6)
    }

    @Test("changes nothing the second time")
    func twice() async throws {
        let archive = SampleArchive()
        #expect(try await send(archive.text).status == 200)
        let before = try await count("select count(*) from events")
        let again = try await send(archive.text)
        #expect(again.status == 200 && again["left_out_count"]?.integer == 0, "\(again.text)")
        let added = again["added"]?.object?.compactMap(\.value.integer) ?? []
        #expect(!added.isEmpty && added.allSatisfy { $0 == 0 }, "\(again.text)")
        #expect(again["existing.messages"]?.integer == 6 && again["existing.reactions"]?.integer == 1)
        #expect(try await count("select count(*) from imports") == "0")
        let after = try await count("select count(*) from events where thread_id = '\(archive.group)'")
        #expect(after == "4" && Int(before) != nil)
    }

    @Test("adds nothing to threads that exist, and reports what it leaves out")
    func existingThreads() async throws {
        let archive = SampleArchive()
        #expect(try await send(archive.text).status == 200)
        let other = SampleArchive()
        let more = [
            SampleArchive.line(
                "message",
                #""id":"\#(MessageID.make())","thread_id":"\#(archive.group)","sender_id":"\#(archive.ann)""#
                    + #","type":"message","payload":{"text":"late"},"created_at":"2020-05-01T00:00:00Z""#),
            SampleArchive.line(
                "user",
                #""id":"\#(other.ann)","username":"\#(archive.username.uppercased())","name":"Other""#
                    + #","created_at":"2020-05-01T00:00:00Z""#),
            SampleArchive.line(
                "thread",
                #""id":"\#(other.direct)","kind":"direct","user_ids":["\#(archive.ann)","\#(archive.bob)"]"#
                    + #","created_at":"2020-05-01T00:00:00Z""#),
        ]
        let reply = try await send(more.joined(separator: "\n"))
        #expect(reply.status == 200 && reply["complete"] == .bool(false))
        #expect(reply["left_out_count"]?.integer == 3)
        let reasons = (reply["left_out"]?.array ?? []).compactMap { $0["reason"]?.string }
        #expect(reasons.count == 3 && reasons[0].contains("existed before") && reasons[1].contains("is taken"))
        #expect(reasons[2].contains(archive.direct.description))
        #expect(reply["added.users"]?.integer == 1 && reply["added.threads"]?.integer == 0)
        let user = try await Client(token: TestNode.adminToken).get("/v1/admin/users/\(other.ann)")
        #expect(user["username"] == .null)
    }

    @Test("checks with dry_run, and changes nothing")
    func dryRun() async throws {
        let archive = SampleArchive()
        let reply = try await send(archive.text, "?dry_run=true")
        #expect(reply.status == 200 && reply["applied"] == .bool(false) && reply["dry_run"] == .bool(true))
        #expect(reply["added.messages"]?.integer == 6)
        #expect(try await count("select count(*) from users where id = '\(archive.ann)'") == "0")
        #expect(try await count("select count(*) from import_messages m where m.thread_id = '\(archive.group)'") == "0")
        #expect(try await send(archive.text)["added"] == reply["added"])
    }

    @Test("refuses an archive with a bad line, with its number, and keeps nothing of it", arguments: BadLine.all)
    func badLines(bad: BadLine) async throws {
        let archive = SampleArchive()
        let lines = archive.lines
        let reply = try await send((lines + bad.lines(archive)).joined(separator: "\n"))
        #expect(reply.status == 422 && reply.problemCode == "invalid", "\(reply.text)")
        #expect(reply["line"]?.integer == Int64(lines.count + bad.offset), "\(reply.text)")
        #expect(reply["detail"]?.string?.contains(bad.detail) == true, "\(reply.text)")
        #expect(try await count("select count(*) from users where id = '\(archive.ann)'") == "0")
        #expect(try await count("select count(*) from import_users u where u.id = '\(archive.ann)'") == "0")
    }

    @Test("is for administrators, with lines as its body")
    func refusals() async throws {
        let person = try await Person.make()
        let refused = try await person.client.send("POST", "/v1/admin/import", body: "", type: Self.type)
        #expect(refused.problemCode == "invalid_token")
        let admin = try await Client(token: TestNode.adminToken)
        #expect(try await admin.send("POST", "/v1/admin/import", body: "{}").status == 415)
        #expect(try await send("", "?dry_run=maybe").status == 422)
        #expect(try await send("", "?run=true").status == 422)
        let empty = try await send("")
        #expect(empty.status == 200 && empty["added.users"]?.integer == 0)
    }

    @Test("plays the example of docs/import-export.md")
    func example() async throws {
        let block = try #require(
            try Document("docs/import-export.md").markedBlocks.first { $0.marker == "example: archive" })
        let reply = try await send(block.code)
        #expect(reply.status == 200 && reply["complete"] == .bool(true), "\(reply.text)")
        #expect(reply["added.messages"]?.integer == 2 && reply["left_out_count"]?.integer == 0)
        let ann = try await signIn(try #require(UserID(parsing: "018f3c2a-0001-7abc-8def-0123456789ab")))
        let page = try await ann.get("/v1/threads/018f3c2a-0003-7abc-8def-0123456789ab/messages")
        #expect(page["messages"]?.array?.map { $0["payload"]?["text"]?.string } == ["Where do we go?", "To the sea"])
    }

    @Test("records what it added in the audit log")
    func audit() async throws {
        let archive = SampleArchive()
        #expect(try await send(archive.text).status == 200)
        let entries =
            try await Client(token: TestNode.adminToken).get("/v1/admin/audit?limit=200")["entries"]?.array ?? []
        let subjects = entries.filter { $0["action"]?.string == "import" }.compactMap { $0["subject"]?.string }
        #expect(subjects.contains { $0.contains("6 messages") && $0.contains("3 users") }, "\(subjects)")
    }

    @Test("keeps nothing of an archive whose client disconnects")
    func brokenOff() async throws {
        let archive = SampleArchive()
        let client = try await Client()
        let head = """
            POST /v1/admin/import HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(TestNode.adminToken)\r\n\
            Content-Type: \(Self.type)\r\nContent-Length: 100000000\r\n\r\n
            """
        try await client.abandon(ByteBuffer(string: head + archive.text))
        try await eventually("no import is left") { try await count("select count(*) from imports") == "0" }
        #expect(try await count("select count(*) from users where id = '\(archive.ann)'") == "0")
    }
}

/// Lines that contradict the sample archive, or each other.
struct BadLine: Sendable, CustomTestStringConvertible {
    let name: String
    /// Which of the lines is bad, from 1.
    var offset = 1
    let detail: String
    let lines: @Sendable (SampleArchive) -> [String]

    var testDescription: String { name }

    private static let at = #""created_at":"2020-05-01T00:00:00Z""#

    private static func message(_ archive: SampleArchive, _ more: String) -> String {
        SampleArchive.line("message", #""thread_id":"\#(archive.group)","type":"message",\#(at),\#(more)"#)
    }

    static let all: [BadLine] = [
        BadLine(name: "a sender whom nobody knows", detail: "There is no user") { archive in
            [
                message(
                    archive,
                    #""id":"\#(MessageID.make())","seq":60,"sender_id":"\#(UserID.make())","payload":{"text":"x"}"#)
            ]
        },
        BadLine(name: "a thread that nobody knows", detail: "There is no thread") { archive in
            [SampleArchive.line("member", #""thread_id":"\#(ThreadID.make())","user_id":"\#(archive.ann)""#)]
        },
        BadLine(name: "a message that nobody knows", detail: "has no message") { archive in
            [
                SampleArchive.line(
                    "hidden_message",
                    #""thread_id":"\#(archive.group)","user_id":"\#(archive.ann)","message_id":"\#(MessageID.make())""#)
            ]
        },
        BadLine(name: "an id with another content", detail: "in an earlier line") { archive in
            [SampleArchive.line("user", #""id":"\#(archive.ann)","name":"Another",\#(at)"#)]
        },
        BadLine(name: "a seq that is used", detail: "has the seq 20") { archive in
            [
                message(
                    archive,
                    #""id":"\#(MessageID.make())","seq":20,"sender_id":"\#(archive.ann)","payload":{"text":"x"}"#)
            ]
        },
        BadLine(name: "a message without seq among others", detail: "all must have one") { archive in
            [message(archive, #""id":"\#(MessageID.make())","sender_id":"\#(archive.ann)","payload":{"text":"x"}"#)]
        },
        BadLine(name: "a second direct thread of two people", detail: "another direct thread") { archive in
            [
                SampleArchive.line(
                    "thread",
                    #""id":"\#(ThreadID.make())","kind":"direct","user_ids":["\#(archive.ann)","\#(archive.bob)"],\#(at)"#
                )
            ]
        },
        BadLine(name: "a third person in a direct thread", detail: "A direct thread has the two members") { archive in
            [SampleArchive.line("member", #""thread_id":"\#(archive.direct)","user_id":"\#(archive.bot)""#)]
        },
        BadLine(name: "a second room with the same title", detail: "another room with this title") { archive in
            [
                SampleArchive.line(
                    "thread", #""id":"\#(ThreadID.make())","kind":"room","title":"room  \#(archive.word)",\#(at)"#)
            ]
        },
        BadLine(name: "bytes of another sum", detail: "not those of its sum") { archive in
            [
                SampleArchive.line(
                    "attachment",
                    #""id":"\#(AttachmentID.make())","owner_id":"\#(archive.ann)","name":"b","size":1"#
                        + #","sha256":"\#(String(repeating: "0", count: 64))",\#(at)"#)
            ]
        },
        BadLine(name: "an attachment that nobody knows", detail: "There is no attachment") { archive in
            [
                message(
                    archive,
                    #""id":"\#(MessageID.make())","seq":60,"sender_id":"\#(archive.ann)""#
                        + #","payload":{"attachments":[{"id":"\#(AttachmentID.make())"}]}"#)
            ]
        },
        BadLine(name: "no JSON", offset: 2, detail: "not valid JSON") { _ in ["", "{"] },
    ]
}
