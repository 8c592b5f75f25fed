// /v1/admin/commands and /v1/commands, without answering.
import Domain
import TestSupport
import Testing

/// One at a time: some tests count all commands of the node.
@Suite("Managing commands", .serialized, .timeLimit(.minutes(1)))
struct ManagingCommands {
    private static let all = "/v1/admin/commands"
    private static let url = "https://commands.example/parley"

    private static func admin() async throws -> Client { try await Client(token: TestNode.adminToken) }

    private static func body(_ word: String, _ more: String = "") -> String {
        #"{"word":"\#(word)","url":"\#(url)"\#(more)}"#
    }

    private static func make(_ word: String, _ more: String = "") async throws -> Reply {
        let made = try await admin().post(all, body(word, more))
        try #require(made.status == 201, "\(made.text)")
        return made
    }

    private static func path(_ made: Reply) throws -> String { "\(all)/\(try made.string("id"))" }

    @Test("shows the secret when a command is created, and never again, and creates a bot")
    func secret() async throws {
        let admin = try await Self.admin()
        let made = try await Self.make("/deploy", #","description":"Deploys","image":"https://a.example/d.png""#)
        let secret = try made.string("secret")
        #expect(secret.wholeMatch(of: /whsec_[A-Za-z0-9+\/]{43}=/) != nil)
        #expect(made["word"] == .string("/deploy") && made["description"] == .string("Deploys"))
        #expect(made["enabled"] == .bool(true) && made["thread_id"] == .null && made["waiting_runs"]?.integer == 0)
        let path = try Self.path(made)
        let shown = try await admin.get(path)
        #expect(shown.status == 200 && shown["secret"] == nil && shown["url"] == .string(Self.url))
        let list = try await admin.get(Self.all)
        #expect(try list.string("commands.0.id") == made.string("id") && !list.text.contains("whsec_"))
        let rotated = try await admin.post(path + "/rotate")
        #expect(rotated.status == 200 && rotated["former_secret_until"]?.string != nil)
        #expect(try rotated.string("secret") != secret)
        #expect(try await admin.post(path + "/rotate", #"{"x":1}"#).status == 422)
        let bot = try await Person.make("Ann").client.get("/v1/users/\(made.string("user_id"))")
        #expect(bot["kind"] == .string("bot") && bot["name"] == .string("deploy"))
        #expect(bot["profile_image"] == .string("https://a.example/d.png"))
        #expect(try await admin.post(Self.all, Self.body("/deploy")).problemCode == "word_taken")
        #expect(try await admin.delete(path).status == 204)
        #expect(try await admin.get(path).problemCode == "command_not_found")
        #expect(try await admin.delete(Self.path(try await Self.make("/deploy"))).status == 204)
    }

    @Test("refuses URLs that may not be called, in any spelling")
    func urls() async throws {
        let admin = try await Self.admin()
        let path = try Self.path(try await Self.make("/urls"))
        for url in [
            "http://commands.example/", "https://localhost/", "https://127.0.0.1/", "https://0x7f.1/",
            "https://2130706433/", "https://[::1]/", "https://10.1.2.3:8443/x", "https://169.254.169.254/latest",
            "https://u:p@commands.example/", "ftp://a.example", "https://", "x", "https://commands.example/#f",
        ] {
            let refused = try await admin.post(Self.all, #"{"word":"/x","url":"\#(url)"}"#)
            #expect(refused.errorFields == ["url"], "\(url)")
            #expect(try await admin.patch(path, #"{"url":"\#(url)"}"#).errorFields == ["url"], "\(url)")
        }
        #expect(try await admin.delete(path).status == 204)
    }

    @Test("refuses unknown fields, wrong types, words of another form and unknown threads")
    func wrongBodies() async throws {
        let admin = try await Self.admin()
        let path = try Self.path(try await Self.make("/fields"))
        for word in ["", "/", "deploy", "/Deploy", "/a b", "/é", "/" + String(repeating: "a", count: 33)] {
            #expect(try await admin.post(Self.all, Self.body(word)).errorFields == ["word"], "\(word)")
        }
        for (more, field) in [
            (#","x":1"#, "x"), (#","description":"a\nb""#, "description"), (#","name":"""#, "name"),
            (#","image":"ftp://x""#, "image"), (#","thread_id":"x""#, "thread_id"),
        ] {
            #expect(try await admin.post(Self.all, Self.body("/x", more)).errorFields == [field], "\(more)")
        }
        #expect(try await admin.post(Self.all, "{}").errorFields == ["word", "url"])
        let unknown = try await admin.post(Self.all, Self.body("/x", #","thread_id":"\#(ThreadID.make())""#))
        #expect(unknown.status == 404 && unknown.problemCode == "thread_not_found")
        for (body, field) in [
            (#"{"enabled":null}"#, "enabled"), (#"{"word":"/x"}"#, "word"), (#"{"description":1}"#, "description"),
        ] {
            #expect(try await admin.patch(path, body).errorFields == [field], "\(body)")
        }
        #expect(try await admin.get(Self.all + "?limit=201").errorFields == ["limit"])
        #expect(try await admin.delete(path).status == 204)
    }

    @Test("changes URL, description and whether it is enabled, and records each change")
    func changes() async throws {
        let admin = try await Self.admin()
        let made = try await Self.make("/changes", #","description":"One""#)
        let path = try Self.path(made)
        let changed = try await admin.patch(
            path, #"{"url":"https://other.example/","description":null,"enabled":false}"#)
        #expect(changed.status == 200 && changed["url"] == .string("https://other.example/"))
        #expect(changed["description"] == .null && changed["enabled"] == .bool(false))
        #expect(changed["disabled_reason"] == .string("admin") && changed["disabled_at"]?.string != nil)
        #expect(try await admin.patch(path, #"{"enabled":false}"#).json == changed.json)
        let enabled = try await admin.patch(path, #"{"description":"Two","enabled":true}"#)
        #expect(enabled["description"] == .string("Two"))
        #expect(enabled["disabled_at"] == .null && enabled["disabled_reason"] == .null)
        _ = try await admin.post(path + "/rotate")
        #expect(try await admin.delete(path).status == 204)
        let entries = try await admin.get("/v1/admin/audit?limit=200")["entries"]?.array ?? []
        let own = try made.string("id")
        #expect(
            entries.filter { $0["subject"]?.string == own }.reversed().map { $0["action"]?.string } == [
                "command.create", "command.update", "command.update", "command.rotate", "command.delete",
            ])
    }

    @Test("answers 404 for unknown commands, to the admin token alone")
    func unknown() async throws {
        let admin = try await Self.admin()
        let ann = try await Person.make("Ann")
        for id in [CommandID.make().description, "x"] {
            let path = "\(Self.all)/\(id)"
            for reply in [
                try await admin.get(path), try await admin.patch(path, #"{"enabled":true}"#),
                try await admin.delete(path), try await admin.post(path + "/rotate"),
            ] {
                #expect(reply.problemCode == "command_not_found", "\(reply.text)")
            }
            #expect(try await ann.client.get(path).problemCode == "invalid_token")
        }
    }

    @Test("shows a thread's members the words that work there, and nobody else")
    func offers() async throws {
        let admin = try await Self.admin()
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let thread = try await ann.group(title: "One")
        let other = try await ann.group(title: "Two")
        let made = [
            try await Self.make("/offer-b"), try await Self.make("/offer-c", #","thread_id":"\#(thread)""#),
            try await Self.make("/offer-a", #","description":"First""#), try await Self.make("/offer-d"),
        ]
        _ = try await admin.patch(try Self.path(made[3]), #"{"enabled":false}"#)
        func words(_ thread: String) async throws -> [String] {
            let reply = try await ann.client.get("/v1/commands?thread_id=\(thread)")
            #expect(reply.status == 200 && !reply.text.contains("url"), "\(reply.text)")
            return reply["commands"]?.array?.compactMap { $0["word"]?.string } ?? []
        }
        #expect(try await words(thread) == ["/offer-a", "/offer-b", "/offer-c"])
        #expect(try await words(other) == ["/offer-a", "/offer-b"])
        let list = try await ann.client.get("/v1/commands?thread_id=\(other)")
        #expect(list["commands.0.description"] == .string("First") && list["commands.1.description"] == .null)
        #expect(try await admin.put("/v1/admin/users/\(made[2].string("user_id"))/suspension").status == 204)
        #expect(try await words(other) == ["/offer-b"])
        let refused = try await bob.client.get("/v1/commands?thread_id=\(thread)")
        #expect(refused.status == 404 && refused.problemCode == "thread_not_found")
        #expect(try await ann.client.get("/v1/commands").errorFields == ["thread_id"])
        #expect(try await ann.client.get("/v1/commands?thread_id=\(thread)&x=1").errorFields == ["x"])
        // Erasing the bot deletes its command.
        #expect(try await admin.delete("/v1/admin/users/\(made[0].string("user_id"))").status == 204)
        #expect(try await admin.get(try Self.path(made[0])).problemCode == "command_not_found")
        for command in made.dropFirst() { #expect(try await admin.delete(Self.path(command)).status == 204) }
    }

    @Test("has a bound, and pages")
    func bound() async throws {
        try await checkBound(of: Self.all, "commands", by: try await Self.admin()) { number in Self.body("/n\(number)")
        }
    }
}
