// Legal holds over HTTP: who may call, what is refused, and what the audit log has.
import Basics
import Cryptography
import Domain
import Store
import TestSupport
import Testing

@Suite("Legal holds", .timeLimit(.minutes(1)))
struct LegalHolds {
    private static let holds = "/v1/admin/holds"

    private let ann: Person
    private let admin: Client
    private let thread: String

    init() async throws {
        ann = try await Person.make("Ann")
        admin = try await Client(token: TestNode.adminToken)
        thread = try await ann.group()
    }

    private func hold(_ subject: String) async throws -> Reply {
        try await admin.send(
            "POST", Self.holds, body: #"{"name":"Case 7","reason":"Order",\#(subject)}"#, headers: ["Parley-Actor: Kim"]
        )
    }

    /// The entries of the audit log about a hold, the oldest first: actor, action, and the subject after the id.
    private func entries(of hold: String) async throws -> [String] {
        let all = try await admin.get("/v1/admin/audit?limit=200")["entries"]?.array ?? []
        return all.reversed().compactMap { entry in
            guard let subject = entry["subject"]?.string, subject.hasPrefix(hold) else { return nil }
            return [entry["actor"]?.string, entry["action"]?.string, String(subject.dropFirst(hold.count))]
                .compactMap(\.self).joined(separator: " ")
        }
    }

    @Test("begin, are listed, show what was removed, and end; each reading is recorded")
    func life() async throws {
        let made = try await hold(#""thread_id":"\#(thread)""#)
        let id = try made.string("id")
        #expect(made.status == 201 && made["name"] == .string("Case 7") && made["thread_id"] == .string(thread))
        #expect(made["user_id"] == nil && made["released_at"] == nil && made["reason"] == .string("Order"))
        let path = "\(Self.holds)/\(id)"
        #expect(try await admin.get(path).text == made.text)
        #expect(try await admin.get(path + "/contents")["contents"]?.array?.isEmpty == true)
        for text in ["one", "two"] {
            let message = try await ann.say(text, in: thread).string("id")
            #expect(try await ann.client.delete("/v1/threads/\(thread)/messages/\(message)").status == 204)
        }
        let first = try await admin.get(path + "/contents?limit=1")
        #expect(first["contents.0.payload.text"] == .string("one") && first["contents.0.removal"] == .string("deleted"))
        #expect(first["contents.0.sender.name"] == .string("Ann") && first["contents"]?.array?.count == 1)
        let second = try await admin.get(path + "/contents?limit=1&cursor=\(first.string("next"))")
        #expect(second["contents.0.payload.text"] == .string("two") && second["next"] == nil)
        let next = try await hold(#""user_id":"\#(ann.id)""#).string("id")
        let page = try await admin.get(Self.holds + "?limit=1")
        #expect(page["holds.0.id"] == .string(next))
        #expect(try await admin.get(Self.holds + "?limit=1&page=\(page.string("next"))")["holds.0.id"] == made["id"])
        for _ in 0..<2 { #expect(try await admin.delete(path).status == 204) }
        #expect(try await admin.get(path)["released_at"]?.string != nil)
        for rest in ["/contents", "/export"] {
            let reply = try await admin.get(path + rest)
            #expect(reply.status == 409 && reply.problemCode == "hold_released")
        }
        let recorded = try await entries(of: id)
        #expect(recorded.count == 5)
        #expect(recorded.first == "Kim hold.create " && recorded.last == "admin hold.release ")
        #expect(recorded[1] == "admin hold.read : 0 contents")
        #expect(recorded[2].hasPrefix("admin hold.read : 1 contents, "))
    }

    @Test("refuse unknown holds, users and threads, and say what is wrong with a body")
    func refusals() async throws {
        for id in ["x", HoldID.make().description] {
            for path in [id, "\(id)/contents", "\(id)/export"] {
                let reply = try await admin.get("\(Self.holds)/\(path)")
                #expect(reply.status == 404 && reply.problemCode == "hold_not_found", "\(path)")
            }
            #expect(try await admin.delete("\(Self.holds)/\(id)").problemCode == "hold_not_found")
        }
        #expect(try await hold(#""user_id":"\#(UserID.make())""#).problemCode == "user_not_found")
        #expect(try await hold(#""thread_id":"\#(ThreadID.make())""#).problemCode == "thread_not_found")
        let id = UserID.make().description
        for (body, fields) in [
            ("{}", ["name", "user_id"]), (#"{"name":"a"}"#, ["user_id"]), (#"{"user_id":"\#(id)"}"#, ["name"]),
            (#"{"name":"","thread_id":"x"}"#, ["name", "thread_id"]),
            (#"{"name":"a\nb","user_id":"\#(id)"}"#, ["name"]),
            (#"{"name":"a","user_id":"\#(id)","thread_id":"\#(id)"}"#, ["thread_id"]),
            (#"{"name":"a","user_id":"\#(id)","reason":""}"#, ["reason"]),
            (#"{"name":"a","user_id":"\#(id)","until":"x"}"#, ["until"]),
            (#"{"name":"\#(String(repeating: "a", count: 129))","user_id":"\#(id)"}"#, ["name"]),
        ] {
            #expect(try await admin.post(Self.holds, body).errorFields.sorted() == fields, "\(body)")
        }
        let made = try await hold(#""thread_id":"\#(thread)""#).string("id")
        #expect(try await admin.get("\(Self.holds)/\(made)/contents?cursor=x").errorFields == ["cursor"])
        #expect(try await admin.get("\(Self.holds)/\(made)/contents?limit=201").errorFields == ["limit"])
        #expect(try await admin.get("\(Self.holds)/\(made)/export?a=1").errorFields == ["a"])
        #expect(try await ann.client.get("\(Self.holds)/\(made)/contents").status == 401)
        #expect(try await admin.delete("\(Self.holds)/\(made)").status == 204)
    }

    @Test("export their contents with a signed last line, which the public key verifies")
    func exports() async throws {
        let id = try await hold(#""user_id":"\#(ann.id)""#).string("id")
        let message = try await ann.say("line\u{2028}break \\n", in: thread).string("id")
        let edit = #"{"payload":{"text":"other"}}"#
        #expect(try await ann.client.patch("/v1/threads/\(thread)/messages/\(message)", edit).status == 200)
        let export = try await admin.get("\(Self.holds)/\(id)/export")
        #expect(export.status == 200 && export.headers["content-type"] == "application/x-ndjson")
        // The body comes in chunks, whose sizes are on lines of their own.
        let lines = export.body.split(separator: UInt8(ascii: "\n")).filter { $0.first == UInt8(ascii: "{") }
        try #require(lines.count == 3)
        let objects = try lines.map { try JSONReader.read(Array($0), .init(depthMax: 64)) }
        let (hold, content, end) = (objects[0], objects[1], objects[2])
        #expect(hold["type"] == .string("hold") && hold["data"]?["id"] == .string(id))
        #expect(content["type"] == .string("held_content") && content["data"]?["removal"] == .string("edited"))
        #expect(end["contents"]?.integer == 1)
        let before = Array(lines[0] + [UInt8(ascii: "\n")] + lines[1] + [UInt8(ascii: "\n")])
        #expect(end["sha256"] == .string(SHA256.digest(before).hexadecimal))
        #expect(end["bytes"]?.integer == Int64(before.count))
        let key = try await admin.get("/v1/admin/export-key")
        #expect(key["id"] == end["key_id"] && key["algorithm"] == .string("Ed25519"))
        #expect(try key.string("pem").hasPrefix("-----BEGIN PUBLIC KEY-----\n"))
        #expect(try await admin.get("/v1/admin/export-key").text == key.text)
        let recorded = try await entries(of: id)
        #expect(
            recorded.dropFirst() == [
                "admin hold.export : begun", "admin hold.export : 1 contents, sha256 \(end["sha256"]?.string ?? "")",
            ])
        #expect(try await admin.delete("\(Self.holds)/\(id)").status == 204)
    }
}
