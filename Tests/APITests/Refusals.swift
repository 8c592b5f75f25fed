// Bad requests of every kind get their problem document, and nothing gets a 500.
import API
import Domain
import Testing

@Suite("Refusals")
struct Refusals {
    @Test(
        "answers 404 where there is nothing",
        arguments: [
            "/nothing", "/v1", "/v1/", "/v2/users/me", "/v1/threads/a/b/c/d", "/v1/users/me/x", "/%2e%2e/etc/passwd",
            "/v1/users/%", "/v1//", "/v1/sync/x", "/health",
        ])
    func knowsNothing(_ path: String) async throws {
        let reply = try await Person.make().client.get(path)
        #expect(reply.status == 404, "\(reply.text)")
        #expect(reply.problemCode == "not_found" || reply.problemCode == "user_not_found")
        #expect(reply.headers["x-content-type-options"] == "nosniff")
        #expect(reply.headers["cache-control"] == "no-store")
    }

    @Test("answers 405 with what is allowed, for every path and method")
    func refusesMethods() async throws {
        let routes = try await TestNode.shared().routes
        let client = try await Client()
        let patterns = Dictionary(grouping: routes, by: \.pattern)
        for (pattern, routes) in patterns {
            let methods = Set(routes.flatMap(\.methods).map(\.rawValue))
            let path = pattern.split(separator: "/").map { $0.first == "{" ? "x" : $0 }.joined(separator: "/")
            for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"] where !methods.contains(method)
            {
                let reply = try await client.send(method, "/" + path)
                #expect(reply.status == 405, "\(method) \(path)")
                #expect(reply.problemCode == "method_not_allowed")
                let allowed = reply.headers["allow"]?.split(separator: ", ").map { String($0) } ?? []
                #expect(Set(allowed) == methods)
                #expect(allowed.count == methods.count)
            }
        }
    }

    @Test("answers HEAD as GET without the body, and not for the long poll")
    func answersHead() async throws {
        let client = try await Person.make().client
        for path in ["/v1/users/me", "/health/live", "/openapi.yaml", "/v1/inbox", "/nothing"] {
            let get = try await client.get(path)
            let head = try await client.send("HEAD", path)
            #expect(head.status == get.status)
            #expect(head.body.isEmpty)
            #expect(head.headers["content-length"] == get.headers["content-length"])
            #expect(head.headers["content-type"] == get.headers["content-type"])
        }
        #expect(try await client.send("HEAD", "/v1/sync").status == 405)
    }

    @Test(
        "refuses unknown parameters, on calls that have none too",
        arguments: [
            "/v1/users/me?x=1", "/v1/inbox?Limit=1", "/v1/sessions?limit=1&limit=2", "/v1/rooms?query=%zz",
            "/v1/rooms?query=%00", "/v1/users?query=a&page=nonsense", "/v1/rooms?limit=%20",
        ])
    func refusesParameters(_ path: String) async throws {
        let reply = try await Person.make().client.get(path)
        #expect(reply.status == 422)
        #expect(reply.problemCode == "invalid")
        #expect(reply.errorFields.count == 1)
    }

    @Test("takes JSON by its type or without one, and no other type")
    func checksTypes() async throws {
        let client = try await Person.make().client
        for type in ["application/json", "Application/JSON; charset=utf-8", "application/merge-patch+json", nil] {
            let reply = try await client.send("PATCH", "/v1/users/me", body: #"{"name":"Ann"}"#, type: type)
            #expect(reply.status == 200, "\(type ?? "none")")
        }
        for type in ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonp", "text/json"] {
            let reply = try await client.send("PATCH", "/v1/users/me", body: #"{"name":"Ann"}"#, type: type)
            #expect(reply.status == 415)
            #expect(reply.problemCode == "unsupported_media_type")
        }
    }

    @Test(
        "calls what isn't JSON malformed",
        arguments: [
            "", " ", "{", "nope", #"{"name":"Ann"}}"#, #"{"name":"Ann","name":"Bob"}"#, #"{"name":"\ud800"}"#,
            #"{"name":'Ann'}"#, "{\"name\":\"a\u{1}\"}", "\u{feff}{}", #"{"\u0000":1}"#, "{\"name\":01}",
            String(repeating: "[", count: 60_000), #"{"a":"# + String(repeating: "[", count: 33),
        ])
    func callsMalformed(_ body: String) async throws {
        let reply = try await Person.make().client.patch("/v1/users/me", body)
        #expect(reply.status == 400)
        #expect(reply.problemCode == "malformed_json")
    }

    @Test("calls bytes that aren't UTF-8 malformed")
    func refusesBadUTF8() async throws {
        let client = try await Person.make().client
        for bytes in [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80]] as [[UInt8]] {
            let body = Array(#"{"name":"a"#.utf8) + bytes + Array(#""}"#.utf8)
            #expect(try await client.send("PATCH", "/v1/users/me", bytes: body).problemCode == "malformed_json")
        }
    }

    @Test("names the field of a character or a number that can't be kept")
    func namesUnstorable() async throws {
        let ann = try await Person.make()
        let path = "/v1/threads/\(try await ann.group())/messages"
        for (body, field) in [
            (#"{"payload":{"text":"a\u0000b"}}"#, "payload.text"),
            (#"{"payload":{"text":"a","n":[1,1e400]}}"#, "payload.n[1]"),
            (#"{"payload":{"text":"a","n":\#(String(repeating: "9", count: 65))}}"#, "payload.n"),
        ] {
            let reply = try await ann.client.post(path, body)
            #expect(reply.status == 422)
            #expect(reply.errorFields == [field])
        }
        let deep = String(repeating: "[", count: 31) + String(repeating: "]", count: 31)
        #expect(try await ann.client.post(path, "{\"payload\":{\"text\":\"a\",\"x\":\(deep)}}").status == 400)
        let largest = String(repeating: "x", count: 16 * 1024)
        #expect(try await ann.client.post(path, "{\"payload\":{\"text\":\"\(largest)\"}}").status == 201)
        #expect(
            try await ann.client.post(path, "{\"payload\":{\"text\":\"\(largest)x\"}}").errorFields == ["payload.text"])
    }

    @Test("refuses a body that is too large, whatever is in it")
    func refusesLargeBodies() async throws {
        let ann = try await Person.make()
        let messages = "/v1/threads/\(try await ann.group())/messages"
        for (method, path, byteCountMax) in [("PATCH", "/v1/users/me", 64 * 1024), ("POST", messages, 1024 * 1024)] {
            let reply = try await ann.client.send(method, path, body: String(repeating: " ", count: byteCountMax + 1))
            #expect(reply.status == 413)
            #expect(reply.problemCode == "body_too_large")
            let legal = try await ann.client.send(method, path, body: String(repeating: " ", count: byteCountMax))
            #expect(legal.problemCode == "malformed_json")
        }
        let escaped = String(repeating: "\\u0041", count: 16 * 1024)
        #expect(try await ann.client.post(messages, "{\"payload\":{\"text\":\"\(escaped)\"}}").status == 201)
    }

    @Test("ignores a body where none is taken")
    func ignoresBodies() async throws {
        let client = try await Person.make().client
        #expect(try await client.send("GET", "/v1/users/me", body: "{").status == 200)
        #expect(try await client.send("POST", "/v1/auth/logout", body: "x", type: "text/plain").status == 204)
    }

    @Test("serves health, figures and the description of itself to anyone")
    func servesOperation() async throws {
        let client = try await Client()
        #expect(try await client.get("/health/live").string("status") == "live")
        #expect(try await client.get("/health/ready?probe=1").string("status") == "ready")
        #expect(try await client.get("/metrics").text == "parley_test 1\n")
        let description = try await client.get("/openapi.yaml")
        #expect(description.headers["content-type"] == "application/yaml")
        #expect(description.text == OpenAPI.text)
    }

    @Test("never answers 500, whatever is sent to whichever call")
    func survivesNoise() async throws {
        let person = try await Person.make()
        let thread = try await person.group()
        let message = try await person.say("hi", in: thread).string("id")
        let seeds = [
            #"{"id":"\#(message)","type":"message","payload":{"text":"é"},"reply_to":null,"mentions":["\#(person.id)"]}"#,
            #"{"kind":"group","title":"T","members":["\#(person.id)"],"invite":false,"retention":{"keep":"forever"}}"#,
            #"{"receipts":[{"thread_id":"\#(thread)","read":1,"delivered":1}],"read":1,"delivered":1}"#,
            #"{"username":"x","password":"12345678","name":"N","email":"a@b.c","code":"1","token":"t"}"#,
            #"{"name":"N","profile_image":null,"status_text":"s","preferences":{"push":"full"},"role":"member","status":"joined"}"#,
        ]
        let routes = try await TestNode.shared().routes.filter { $0.operation != "sync" && $0.operation != "logout" }
        var random = Noise(state: 3)
        for round in 0..<400 {
            let route = routes[round % routes.count]
            let path = route.pattern.replacing("{thread_id}", with: random.chance(8) ? "x" : thread)
                .replacing("{message_id}", with: random.chance(4) ? MessageID.make().description : message)
                .replacing("{user_id}", with: random.chance(2) ? "me" : person.id)
                .replacing("{session_id}", with: SessionID.make().description)
            var body = Array(seeds[random.below(seeds.count)].utf8)
            for _ in 0..<random.below(4) where !body.isEmpty {
                let at = random.below(body.count)
                switch random.below(4) {
                case 0: body[at] = UInt8(random.below(256))
                case 1: body.remove(at: at)
                case 2: body.insert(contentsOf: Array(#""\u0000\ud800{[:,9e999"#.utf8).prefix(random.below(12)), at: at)
                default: body.removeLast(body.count - at)
                }
            }
            let query =
                random.chance(3) ? "?limit=\(random.below(300))&page=\(random.next())&before=%\(random.below(100))" : ""
            let reply = try await person.client.send(route.method.rawValue, path + query, bytes: body)
            #expect(
                reply.status < 500 || reply.status == 503,
                "\(route.operation): \(String(decoding: body, as: UTF8.self))")
            if reply.status >= 400 { #expect(reply.problemCode != nil, "\(reply.text)") }
        }
    }
}

/// The same random numbers in every run.
private struct Noise: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 33)
    }

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
    mutating func chance(_ oneIn: Int) -> Bool { below(oneIn) == 0 }
}
