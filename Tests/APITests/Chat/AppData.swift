// The host app's own data: `custom` and `labels` of threads, `custom` of accounts, and both in a member's settings.
import Domain
import TestSupport
import Testing

@Suite("The host app's data", .timeLimit(.minutes(1)))
struct AppDataOfTheHost {
    private static let object = #"{"order":42,"note":null,"lines":[{"sku":"é"}]}"#

    private func json(_ text: String) -> JSONValue? { try? JSONReader.read(Array(text.utf8)) }

    @Test("is stored with a new thread, and replaced and removed by its owner; all members see it and are notified")
    func threads() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let made = try await ann.client.post(
            "/v1/threads",
            #"{"kind":"group","members":["\#(bob.id)"],"custom":\#(Self.object),"labels":["order","b"]}"#)
        #expect(made.status == 201)
        let path = "/v1/threads/\(try made.string("id"))"
        let object = json(Self.object)
        for reply in [made, try await bob.client.get(path)] {
            #expect(reply["custom"] == object && reply["labels"] == json(#"["order","b"]"#), "\(reply.text)")
            #expect(reply["external_id"] == .null)
            #expect(reply["me.custom"] == .null && reply["me.labels"] == .array([]))
        }
        #expect(try await bob.client.get("/v1/inbox")["threads.0.custom"] == object)

        let start = try await bob.client.get("/v1/sync").string("cursor")
        #expect(try await bob.client.patch(path, #"{"labels":[]}"#).problemCode == "not_allowed")
        let changed = try await ann.client.patch(path, #"{"custom":{"a":1},"labels":["z","a"]}"#)
        #expect(changed["custom"] == json(#"{"a":1}"#) && changed["labels"] == json(#"["z","a"]"#))
        // The same values again change nothing.
        _ = try await ann.client.patch(path, #"{"custom":{"a":1},"labels":["z","a"]}"#)
        let events = try await bob.client.get("/v1/sync?cursor=\(start)&wait=0")
        #expect(events["events"]?.array?.map { $0["type"]?.string } == ["thread.updated"])
        #expect(events["events.0.data.custom"] == json(#"{"a":1}"#))
        #expect(events["events.0.data.labels"] == json(#"["z","a"]"#))
        let emptied = try await ann.client.patch(path, #"{"custom":null,"labels":null}"#)
        #expect(emptied["custom"] == .null && emptied["labels"] == .array([]))
    }

    @Test(
        "of a new room is kept, and of a room that exists is not changed by joining; both people change a direct thread"
    )
    func otherKinds() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let title = "Room \(UserID.make())"
        let room = try await ann.client.post("/v1/threads", #"{"kind":"room","title":"\#(title)","labels":["help"]}"#)
        #expect(room.status == 201 && room["labels"] == json(#"["help"]"#))
        let joined = try await bob.client.post("/v1/threads", #"{"kind":"room","title":"\#(title)","labels":["mine"]}"#)
        #expect(joined.status == 200 && joined["labels"] == json(#"["help"]"#))
        let direct = try await ann.client.post("/v1/threads", #"{"kind":"direct","members":["\#(bob.id)"]}"#)
        let path = "/v1/threads/\(try direct.string("id"))"
        for person in [ann, bob] {
            let changed = try await person.client.patch(path, #"{"labels":["\#(person.id)"]}"#)
            #expect(changed["labels"] == .array([.string(person.id)]))
        }
    }

    @Test("of a member's settings is seen by the caller's devices alone")
    func settings() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let thread = try await ann.group(with: [bob])
        let path = "/v1/threads/\(thread)"
        let start = try await ann.client.get("/v1/sync").string("cursor")
        let body = #"{"custom":{"colour":"red"},"labels":["work"]}"#
        let changed = try await ann.client.patch("\(path)/settings", body)
        #expect(changed["custom"] == json(#"{"colour":"red"}"#) && changed["labels"] == json(#"["work"]"#))
        _ = try await ann.client.patch("\(path)/settings", body)
        let events = try await ann.client.get("/v1/sync?cursor=\(start)&wait=0")
        #expect(events["events"]?.array?.map { $0["type"]?.string } == ["settings.updated"])
        #expect(
            events["events.0.data.labels"] == changed["labels"] && events["events.0.data.custom"] == changed["custom"])
        #expect(try await bob.eventTypes(since: start) == [])
        #expect(try await ann.client.get(path)["me.labels"] == changed["labels"])
        let seen = try await bob.client.get(path)
        #expect(seen["me.labels"] == .array([]) && !seen.text.contains("colour") && seen["labels"] == .array([]))
        let kept = try await ann.client.patch("\(path)/settings", #"{"pinned":true}"#)
        #expect(kept["labels"] == changed["labels"] && kept["custom"] == changed["custom"])
        let emptied = try await ann.client.patch("\(path)/settings", #"{"custom":null,"labels":null}"#)
        #expect(emptied["custom"] == .null && emptied["labels"] == .array([]))
    }

    @Test("of an account is in its profile, and people who share a thread are notified of a change")
    func accounts() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let thread = try await ann.group(with: [bob])
        let start = try await bob.client.get("/v1/sync").string("cursor")
        let changed = try await ann.client.patch("/v1/users/me", #"{"custom":{"team":"blue"}}"#)
        #expect(changed["custom"] == json(#"{"team":"blue"}"#) && changed["external_id"] == .null)
        let profile = try await bob.client.get("/v1/users/\(ann.id)")
        #expect(profile["custom"] == changed["custom"] && profile["external_id"] == nil)
        let members = try await bob.client.get("/v1/threads/\(thread)/members")
        #expect(members["members.0.user.custom"] == changed["custom"])
        let events = try await bob.client.get("/v1/sync?cursor=\(start)&wait=0")
        #expect(try events.string("events.0.type") == "user.updated")
        #expect(events["events.0.data.custom"] == changed["custom"])
        #expect(try await ann.client.patch("/v1/users/me", #"{"custom":null}"#)["custom"] == .null)
    }

    @Test("goes with an erased account, from the log as well")
    func erasure() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let word = "w\(UserID.make().description.suffix(12))"
        let mine = #"{"custom":{"word":"\#(word)","deep":{"a":["}\"{",{}]}}}"#
        _ = try await ann.client.patch("/v1/users/me", mine)
        let thread = try await ann.group(with: [bob])
        _ = try await ann.client.patch("/v1/users/me", #"{"status_text":"\#(word)"}"#)
        _ = try await ann.client.patch("/v1/threads/\(thread)/settings", mine)
        let database = try await TestNode.shared().database
        let count = "select count(*) from events where body like '%\(word)%'"
        #expect(try await Psql.run(count, conninfo: database) != "0")
        #expect(try await ann.client.delete("/v1/users/me").status == 204)
        #expect(try await bob.client.get("/v1/threads/\(thread)/members").text.contains(word) == false)
        // Nodes do this in the background.
        try await eventually("the log has no data of the account") {
            _ = try await Psql.run("select erasure_sweep(1000)", conninfo: database)
            return try await Psql.run(count, conninfo: database) == "0"
        }
        let rows = """
            select count(*) from users where custom is not null and id = '\(ann.id)' union all
            select count(*) from members where user_id = '\(ann.id)'
            """
        #expect(try await Psql.run(rows, conninfo: database) == "0\n0")
    }

    @Test(
        "is refused if it is invalid, and nothing changes",
        arguments: [
            (#"{"custom":[1]}"#, "custom"), (#"{"custom":"x"}"#, "custom"), (#"{"labels":"x"}"#, "labels"),
            (#"{"labels":[""]}"#, "labels[0]"), (#"{"labels":["a","b","a"]}"#, "labels[2]"),
            (#"{"labels":["a",7]}"#, "labels[1]"), (#"{"labels":["1","2","3","4","5","6","7","8","9"]}"#, "labels"),
            (#"{"labels":["\#(String(repeating: "é", count: 65))"]}"#, "labels[0]"),
            (#"{"custom":{"a":"\#(String(repeating: "é", count: 2_045))"}}"#, "custom"),
            (#"{"custom":{"a":"\u0000"}}"#, "custom.a"),
        ])
    func refuses(_ body: String, _ field: String) async throws {
        let ann = try await Person.make("Ann")
        let path = "/v1/threads/\(try await ann.group())"
        var paths = [path, "\(path)/settings"]
        if field.hasPrefix("custom") { paths.append("/v1/users/me") }
        for path in paths {
            let reply = try await ann.client.patch(path, body)
            #expect(reply.status == 422 && reply.errorFields == [field], "\(path): \(reply.text)")
        }
        let draft = #"{"kind":"group",\#(body.dropFirst())"#
        #expect(try await ann.client.post("/v1/threads", draft).errorFields == [field])
        #expect(try await ann.client.get("/v1/users/me")["custom"] == .null)
        #expect(try await ann.client.get(path)["labels"] == .array([]))
    }

    @Test("may have 4 KiB, counted in the bytes of the compact JSON")
    func largest() async throws {
        let ann = try await Person.make("Ann")
        let text = String(repeating: "é", count: 2_044)
        let spaces = String(repeating: " ", count: 500)
        let reply = try await ann.client.patch("/v1/users/me", #"{"custom":{"a" :\#(spaces) "\#(text)"}}"#)
        #expect(reply.status == 200 && reply["custom.a"] == .string(text))
        let labels = (0..<8).map { "\"\($0)\(String(repeating: "é", count: 63))\"" }.joined(separator: ",")
        let path = "/v1/threads/\(try await ann.group())"
        #expect(try await ann.client.patch(path, "{\"labels\":[\(labels)]}")["labels"]?.array?.count == 8)
    }

    @Test("filters the inbox: all labels, the thread's or the caller's own, and the totals stay")
    func filtersInbox() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        var threads: [String] = []
        for labels in [#"["a","b"]"#, #"["a"]"#, "[]"] {
            let draft = #"{"kind":"group","members":["\#(bob.id)"],"labels":\#(labels)}"#
            threads.append(try await ann.client.post("/v1/threads", draft).string("id"))
        }
        _ = try await ann.client.patch("/v1/threads/\(threads[1])/settings", #"{"labels":["b","c d"]}"#)
        _ = try await ann.client.patch("/v1/threads/\(threads[2])/settings", #"{"labels":["b"]}"#)
        _ = try await bob.say("hi", in: threads[2])
        func found(_ person: Person, _ query: String) async throws -> Set<String> {
            let reply = try await person.client.get("/v1/inbox?\(query)")
            #expect(try person.id == bob.id || reply.integer("unread_total") == 1)
            return Set(reply["threads"]?.array?.compactMap { $0["id"]?.string } ?? [])
        }
        #expect(try await found(ann, "label=a") == [threads[0], threads[1]])
        #expect(try await found(ann, "label=b") == Set(threads))
        #expect(try await found(ann, "label=a&label=b&label=a") == [threads[0], threads[1]])
        #expect(try await found(ann, "label=c%20d&label=a") == [threads[1]])
        #expect(try await found(ann, "label=b&unread=true") == [threads[2]])
        #expect(try await found(ann, "label=x") == [])
        #expect(try await found(bob, "label=b") == [threads[0]])
        let first = try await ann.client.get("/v1/inbox?label=b&limit=2")
        let rest = try await ann.client.get("/v1/inbox?label=b&limit=2&page=\(try first.string("next"))")
        #expect(first["threads"]?.array?.count == 2 && rest["threads"]?.array?.count == 1 && rest["next"] == nil)
        #expect(try await ann.client.get("/v1/inbox?label=&label=b").errorFields == ["label"])
        #expect(try await ann.client.get("/v1/inbox?limit=1&limit=2").errorFields == ["limit"])
    }

    @Test("filters rooms by their own labels")
    func filtersRooms() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let label = "l\(UserID.make().description.suffix(12))"
        for (title, labels) in [("A", #"["\#(label)"]"#), ("B", #"["\#(label)","x"]"#), ("C", "[]")] {
            let draft = #"{"kind":"room","title":"\#(title) \#(label)","labels":\#(labels)}"#
            let room = try await ann.client.post("/v1/threads", draft).string("id")
            _ = try await ann.client.patch("/v1/threads/\(room)/settings", #"{"labels":["y"]}"#)
        }
        func titles(_ query: String) async throws -> [String?] {
            let reply = try await bob.client.get("/v1/rooms?\(query)")
            return (reply["rooms"]?.array ?? []).map { $0["title"]?.string.map { String($0.prefix(1)) } }.sorted {
                ($0 ?? "") < ($1 ?? "")
            }
        }
        #expect(try await titles("label=\(label)") == ["A", "B"])
        #expect(try await titles("label=\(label)&label=x") == ["B"])
        #expect(try await titles("label=\(label)&query=a") == ["A"])
        #expect(try await titles("label=\(label)&label=y") == [])
        let page = try await bob.client.get("/v1/rooms?label=\(label)&limit=1")
        #expect(try await titles("label=\(label)&page=\(try page.string("next"))").count == 1)
    }
}
