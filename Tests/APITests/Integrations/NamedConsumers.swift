// Consumers of the changes feed whose cursor the service keeps.
import Domain
import TestSupport
import Testing

@Suite("Named consumers", .timeLimit(.minutes(1)))
struct NamedConsumers {
    private static let consumers = "/v1/admin/consumers"
    private static let changes = "/v1/admin/changes?wait=0"

    private static func admin() async throws -> Client { try await Client(token: TestNode.adminToken) }

    private static func name() -> String { "crm." + UserID.make().description.suffix(12) }

    private static func ack(_ consumer: String, _ cursor: String) async throws -> Reply {
        try await admin().post("/v1/admin/changes/ack", #"{"consumer":"\#(consumer)","cursor":"\#(cursor)"}"#)
    }

    @Test("continue after what they have acknowledged, and begin at the end of the log")
    func acknowledges() async throws {
        let admin = try await Self.admin()
        let name = Self.name()
        let first = try await admin.get("\(Self.changes)&consumer=\(name)")
        #expect(first.status == 200 && first["events"]?.array?.isEmpty == true)
        let ann = try await Person.make("Ann")
        let thread = try await ann.group()
        try await ann.say("hi", in: thread)
        let read = try await admin.get("\(Self.changes)&consumer=\(name)&limit=1")
        #expect(read["events"]?.array?.count == 1 && read["more"] == .bool(true))
        // Not acknowledged: the same again.
        #expect(try await admin.get("\(Self.changes)&consumer=\(name)&limit=1").text == read.text)
        let done = try await Self.ack(name, read.string("cursor"))
        #expect(done.status == 200 && done["name"] == .string(name) && done["lag_events"]?.integer == 1)
        let rest = try await admin.get("\(Self.changes)&consumer=\(name)")
        #expect(rest["events.0.type"] == .string("message.created") && rest["events"]?.array?.count == 1)
        let end = try rest.string("cursor")
        for _ in 0..<2 { #expect(try await Self.ack(name, end)["lag_events"]?.integer == 0) }
        let late = try await Self.ack(name, read.string("cursor"))
        #expect(late.problemCode == "cursor_behind" && late["cursor"] == .string(end))
        #expect(try await admin.get("\(Self.consumers)/\(name)")["cursor"] == .string(end))
        let lost = Cursor(epoch: 2_000_000_000, position: Position(1))
        let expired = try await Self.ack(name, lost.description)
        #expect(expired.problemCode == "cursor_expired" && expired["cursor"]?.string != nil)
    }

    @Test("are created, moved, listed with their lag, and deleted, and the audit log records it")
    func administers() async throws {
        let admin = try await Self.admin()
        let name = Self.name()
        let path = "\(Self.consumers)/\(name)"
        #expect(try await admin.get(path).problemCode == "consumer_not_found")
        #expect(try await admin.delete(path).problemCode == "consumer_not_found")
        let ann = try await Person.make("Ann")
        let thread = try await ann.group()
        let at = try await ann.say("hi", in: thread).string("timestamp")
        let made = try await admin.put(path)
        #expect(made.status == 201 && made["lag_events"]?.integer == 0 && made["expired"] == .bool(false))
        #expect(try await admin.put(path).status == 200)
        let moved = try await admin.put(path, #"{"since":"\#(at)"}"#)
        #expect(moved.status == 200 && moved["lag_events"]?.integer == 1)
        let back = try await admin.get("\(Self.changes)&consumer=\(name)")
        #expect(back["events.0.data.payload.text"] == .string("hi"))
        #expect(try await admin.put(path, #"{"cursor":"\#(made.string("cursor"))"}"#)["lag_events"]?.integer == 0)
        let listed = try await admin.get("\(Self.consumers)?limit=200")["consumers"]?.array ?? []
        #expect(listed.contains { $0["name"]?.string == name && $0["lag_seconds"] != nil })
        #expect(try await admin.delete(path).status == 204)
        let entries = try await admin.get("/v1/admin/audit?limit=200")["entries"]?.array ?? []
        #expect(
            entries.filter { $0["subject"]?.string == name }.reversed().map { $0["action"]?.string } == [
                "consumer.create", "consumer.move", "consumer.move", "consumer.delete",
            ])
    }

    @Test("are bounded in number, and come in pages")
    func bounds() async throws {
        let admin = try await Self.admin()
        _ = try await Psql.run("delete from change_consumers", conninfo: TestNode.shared().database)
        for number in 1...ConsumerName.countMax {
            #expect(try await admin.put("\(Self.consumers)/c\(number)").status == 201)
        }
        #expect(try await admin.put("\(Self.consumers)/one-more").problemCode == "too_many_consumers")
        #expect(try await admin.get("\(Self.changes)&consumer=one-more").problemCode == "too_many_consumers")
        #expect(try await Self.ack("one-more", admin.get(Self.changes).string("cursor")).status == 422)
        var (names, page) = ([String](), "")
        repeat {
            let reply = try await admin.get("\(Self.consumers)?limit=40\(page)")
            names += (reply["consumers"]?.array ?? []).compactMap { $0["name"]?.string }
            page = reply["next"]?.string.map { "&page=\($0)" } ?? ""
        } while !page.isEmpty
        #expect(names == (1...ConsumerName.countMax).map { "c\($0)" })
        _ = try await Psql.run("delete from change_consumers", conninfo: TestNode.shared().database)
    }

    @Test("refuse bodies that are not as described")
    func refuses() async throws {
        let admin = try await Self.admin()
        let ack = "/v1/admin/changes/ack"
        #expect(try await admin.post(ack, "{}").errorFields == ["consumer", "cursor"])
        #expect(try await admin.post(ack, #"{"consumer":"a b","cursor":"x"}"#).errorFields == ["consumer", "cursor"])
        #expect(try await admin.post(ack, #"{"consumer":7,"cursor":null}"#).status == 422)
        #expect(try await admin.post(ack, "[").status == 400)
        #expect(try await admin.put("\(Self.consumers)/Large", "{}").errorFields == ["name"])
        let name = Self.name()
        let cursor = try await admin.get(Self.changes).string("cursor")
        let both = #"{"cursor":"\#(cursor)","since":"2026-01-01T00:00:00Z"}"#
        #expect(try await admin.put("\(Self.consumers)/\(name)", both).errorFields == ["since"])
        let lost = Cursor(epoch: 2_000_000_000, position: Position(1))
        let reply = try await admin.put("\(Self.consumers)/\(name)", #"{"cursor":"\#(lost)"}"#)
        #expect(reply.problemCode == "cursor_expired")
        #expect(try await admin.get("\(Self.consumers)/\(name)").status == 404)
    }
}
