// Misleading names over HTTP: refused where they are set, and one room for titles that look alike.
import Domain
import TestSupport
import Testing

@Suite("Choosing names", .timeLimit(.minutes(1)))
struct ChoosingNames {
    private static let reversed = #"A\u202enn"#

    @Test("that mislead is refused, wherever a name can be set")
    func refused() async throws {
        let ann = try await Person.make("Ann")
        let group = try await ann.group()
        let device = #"{"username":"\#(ann.username)","password":"long enough","device_name":"\u200b"}"#
        let registration = #"{"username":"x\#(ann.username)","password":"long enough","name":"Deleted  User"}"#
        for (reply, field) in [
            (try await Client().post("/v1/auth/register", registration), "name"),
            (try await Client().post("/v1/auth/login", device), "device_name"),
            (try await ann.client.patch("/v1/users/me", #"{"name":"\#(Self.reversed)"}"#), "name"),
            (try await ann.client.patch("/v1/users/me", #"{"status_text":"\u3164"}"#), "status_text"),
            (try await ann.client.post("/v1/rooms", #"{"title":"\#(Self.reversed)"}"#), "title"),
            (try await ann.client.patch("/v1/threads/\(group)", #"{"title":"\u2800"}"#), "title"),
        ] {
            #expect(reply.status == 422 && reply.errorFields == [field], "\(reply.text)")
        }
    }

    @Test("has no effect on messages: their texts are returned as they were sent")
    func messages() async throws {
        let ann = try await Person.make("Ann 👩‍👩‍👧 ❤️ 🏴󠁧󠁢󠁳󠁣󠁴󠁿")
        #expect(try await ann.client.get("/v1/users/me").string("name") == "Ann 👩‍👩‍👧 ❤️ 🏴󠁧󠁢󠁳󠁣󠁴󠁿")
        let text = "\u{202E}abc\u{2069}\u{200B}\u{E0041}"
        let sent = try await ann.client.post(
            "/v1/threads/\(try await ann.group())/messages", #"{"payload":{"text":"\#(text)"}}"#)
        #expect(try Array(sent.string("payload.text").unicodeScalars) == Array(text.unicodeScalars))
    }

    @Test("reserved for the service is allowed for the operator only")
    func reserved() async throws {
        let body = #"{"username":"Support","password":"long enough","name":"Help"}"#
        let refused = try await Client().post("/v1/auth/register", body)
        #expect(refused.status == 422 && refused.errorFields == ["username"])
        #expect(try await Client(token: TestNode.adminToken).post("/v1/admin/users", body).status == 201)
        let login = #"{"username":"support","password":"long enough"}"#
        #expect(try await Client().post("/v1/auth/login", login).status == 200)
    }

    @Test("equal to the name that SQL shows for erased accounts is refused")
    func erasedName() async throws {
        let shown = try await Psql.run("select erased_name()", conninfo: try await TestNode.shared().database)
        #expect(shown == DisplayName.ofErasedAccounts)
    }
}

@Suite("Rooms whose titles look alike", .timeLimit(.minutes(1)))
struct LookalikeRooms {
    private func join(_ title: String, as person: Person) async throws -> Reply {
        try await person.client.post("/v1/rooms", #"{"title":"\#(title)"}"#)
    }

    @Test("are one room, with its original title")
    func one() async throws {
        let ann = try await Person.make("Ann")
        let title = "Room \(ann.username)"
        let made = try await join(title, as: ann)
        #expect(made.status == 201)
        for alike in [
            title.uppercased(), title.replacing("Room", with: "Rооm"), title.replacing("Room", with: "Rｏｏm"),
        ] {
            let joined = try await join(alike, as: ann)
            #expect(joined.status == 200, "\(alike): \(joined.text)")
            #expect(try joined.string("id") == made.string("id") && joined.string("title") == title)
        }
        let listed = try await ann.client.get("/v1/rooms?query=\(percentEncoded("ＲＯＯＭ " + ann.username))")
        #expect(listed["rooms"]?.array?.count == 1)
    }
}
