// Names that deceive, and rooms whose titles only look the same.

import Testing

extension SystemTests {
    @Suite("Misleading names")
    struct MisleadingNames {
        @Test("are refused as names, titles, device names and status texts, but allowed in messages")
        func refused() async throws {
            let stage = try await Stage.set()
            let names = [
                "Ann\u{202E}nnA", "\u{2066}Ann", "Ann\u{E0041}\u{E0042}", "\u{200B}", "\u{3164}", "\u{2800}", "a\u{7}",
            ]
            var refusals = ["Deleted user", "DELETED\u{200B} USER", "Dеleted user"].map { name in
                Refusal("PATCH", "/v1/users/me", [422], field: "name", as: stage.ann, json: ["name": .string(name)])
            }
            for name in names {
                let text = JSON.string(name)
                refusals += [
                    Refusal("PATCH", "/v1/users/me", [422], field: "name", as: stage.ann, json: ["name": text]),
                    Refusal(
                        "PATCH", "/v1/users/me", [422], field: "status_text", as: stage.ann, json: ["status_text": text]
                    ),
                    Refusal("POST", "/v1/rooms", [422], field: "title", as: stage.ann, json: ["title": text]),
                    Refusal(
                        "POST", "/v1/auth/login", [422], field: "device_name",
                        json: [
                            "username": .string(stage.ann.username), "password": .string(stage.ann.password),
                            "device_name": text,
                        ]),
                ]
            }
            for username in ["me", "null", "Admin", "support", "root", "system", "parley", "everyone", "here"] {
                refusals.append(
                    Refusal(
                        "POST", "/v1/auth/register", [422], field: "username",
                        json: ["username": .string(username), "password": "correct horse", "name": "Ann"]))
            }
            try await Refusal.expect(refusals, from: stage.node)

            for name in names {
                let sent = try await stage.node.curl.say(name, in: stage.group, as: stage.ann)
                #expect(sent.status == 201 && sent.json["payload"]["text"].string == name, "\(sent)")
            }
            for name in ["Ann 👩‍👩‍👧", "❤️", "🏴󠁧󠁢󠁳󠁣󠁴󠁿 Ann", "שרה", "می‌خواهم"] {
                let changed = try await stage.node.curl.call(
                    "PATCH", "/v1/users/me", ["name": .string(name)], as: stage.ann)
                #expect(changed.status == 200 && changed.json["name"].string == name, "\(changed)")
            }
        }

        @Test("open no second room: titles that look alike count as equal")
        func rooms() async throws {
            let nodes = try await TestNodes.shared()
            let ann = try await nodes.a.curl.register("Ann")
            let name = unique("room")
            let titles = [
                name, name.uppercased(), name.replacing("oo", with: "оo"), name + "\u{200B}", name + "\u{AD}",
                name.replacing("oo", with: "ｏo"), "\u{3164}" + name, name + "\u{2800}",
            ]
            var ids: Set<String?> = []
            for (index, title) in titles.enumerated() {
                let joined = try await nodes.b.curl.post("/v1/rooms", ["title": .string(title)], as: ann)
                #expect(joined.status == (index == 0 ? 201 : 200), "\(title): \(joined)")
                ids.insert(joined.json["id"].string)
            }
            #expect(ids.count == 1)
        }
    }
}
