// The caller's own account, other people's profiles, the directory.
import Domain
import Testing

@Suite("Profiles", .timeLimit(.minutes(1)))
struct Profiles {
    @Test("returns the caller's own account with preferences, other accounts without")
    func showsAccounts() async throws {
        let ann = try await Person.make("Ann")
        let bob = try await Person.make("Bob")
        let me = try await ann.client.get("/v1/users/me")
        #expect(me["preferences"] == .object([]))
        #expect(me["profile_image"] == .null)
        let seen = try await bob.client.get("/v1/users/\(ann.id)")
        #expect(try seen.string("name") == "Ann")
        #expect(try seen.string("username") == ann.username)
        #expect(seen["preferences"] == nil)
        #expect(try await bob.client.get("/v1/users/\(ann.id.uppercased())").status == 200)
    }

    @Test("changes the given fields, keeps the others, clears with null")
    func changes() async throws {
        let person = try await Person.make("Ann")
        var reply = try await person.client.patch(
            "/v1/users/me",
            #"{"profile_image":"https://a.example/x","status_text":"out","preferences":{"push":"none"}}"#)
        #expect(reply.status == 200)
        #expect(try reply.string("name") == "Ann")
        #expect(try reply.string("status_text") == "out")
        #expect(try reply.string("preferences.push") == "none")
        reply = try await person.client.patch("/v1/users/me", #"{"name":"Anna","status_text":null}"#)
        #expect(try reply.string("name") == "Anna")
        #expect(reply["status_text"] == .null)
        #expect(try reply.string("profile_image") == "https://a.example/x")
        #expect(try await person.client.patch("/v1/users/me", "{}").text == person.client.get("/v1/users/me").text)
    }

    @Test(
        "refuses invalid values",
        arguments: [
            (#"{"name":null}"#, "name"), (#"{"name":""}"#, "name"), (#"{"profile_image":"x"}"#, "profile_image"),
            (#"{"preferences":null}"#, "preferences"), (#"{"preferences":{"theme":1}}"#, "preferences.theme"),
            (#"{"username":"x"}"#, "username"), (#"{"status_text":7}"#, "status_text"),
        ])
    func refuses(_ body: String, _ field: String) async throws {
        let reply = try await Person.make().client.patch("/v1/users/me", body)
        #expect(reply.status == 422)
        #expect(reply.errorFields == [field])
    }

    @Test("answers 404 for an unknown id and for text that is not an id")
    func knowsNobody() async throws {
        let client = try await Person.make().client
        for id in [UserID.make().description, "ann", "%00", "7"] {
            #expect(try await client.get("/v1/users/\(id)").problemCode == "user_not_found")
        }
    }

    @Test("finds people by a word of the name, the whole name or the username, ignoring case")
    func searches() async throws {
        let word = "w\(UserID.make().description.suffix(12))"
        let person = try await Person.make("Zoë \(word.uppercased()) Müller", prefix: "find")
        let client = person.client
        func found(_ query: String) async throws -> [String] {
            let reply = try await client.get("/v1/users?query=\(query)")
            #expect(reply.status == 200, "\(reply.text)")
            return reply["users"]?.array?.compactMap { $0["id"]?.string } ?? []
        }
        #expect(try await found(String(word.dropLast())) == [person.id])
        #expect(try await found(person.username.uppercased()) == [person.id])
        #expect(try await found("zo%C3%AB+\(word)") == [person.id])
        #expect(try await found("zoe%CC%88%20\(word)") == [person.id])
        #expect(try await found("x\(word)").isEmpty)
        _ = try await client.patch("/v1/users/me", #"{"name":"Other"}"#)
        #expect(try await found(word).isEmpty)
        #expect(try await found(person.username) == [person.id])
    }

    @Test("returns the directory in pages without repeats")
    func pages() async throws {
        let word = "p\(UserID.make().description.suffix(12))"
        var ids: Set<String> = []
        for index in 0..<5 { ids.insert(try await Person.make("\(word)\(index)").id) }
        let client = try await Person.make().client
        var seen: [String] = []
        var path: String? = "/v1/users?query=\(word)&limit=2"
        while let current = path {
            let page = try await client.get(current)
            seen += page["users"]?.array?.compactMap { $0["id"]?.string } ?? []
            path = page["next"]?.string.map { "/v1/users?query=\(word)&limit=2&page=\($0)" }
        }
        #expect(seen.count == 5)
        #expect(Set(seen) == ids)
    }

    @Test("requires a search text", arguments: ["", "?query=", "?query=%20", "?query=a&query=b", "?q=a"])
    func wantsQuery(_ query: String) async throws {
        let reply = try await Person.make().client.get("/v1/users\(query)")
        #expect(reply.status == 422)
        #expect(reply.errorFields.contains("query"))
    }
}
