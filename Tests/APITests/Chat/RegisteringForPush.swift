// Registering a device for alerts.
import Domain
import Push
import Store
import TestSupport
import Testing

private let path = "/v1/sessions/current/push"
private let key = TestBrowser().keyText
/// The right length and first byte, but not a point on the curve.
private let noPoint = "BA" + String(repeating: "A", count: 85)
private let goodKeys = #"{"p256dh":"\#(key)","auth":"AAAAAAAAAAAAAAAAAAAAAA"}"#

private func web(_ endpoint: String, keys: String = goodKeys) -> String {
    #"{"platform":"webpush","endpoint":"\#(endpoint)","keys":\#(keys)}"#
}

private func apns(_ token: String) -> String {
    #"{"platform":"apns","token":"\#(token)","environment":"production"}"#
}

/// Bodies, and the field that is wrong in each.
private let useless: [(String, String)] = [
    (apns("ababababababab"), "token"), (apns("ababababababababa"), "token"),
    (apns("abababababababag"), "token"), (apns("abababab-babababab"), "token"),
    (apns(String(repeating: "ab", count: 101)), "token"),
    (web("https://localhost/x"), "endpoint"), (web("https://a.localhost./x"), "endpoint"),
    (web("https://127.1/"), "endpoint"), (web("https://2130706433?x"), "endpoint"),
    (web("https://0x7f.1:8443/"), "endpoint"), (web("https://0177.0.0.01./"), "endpoint"),
    (web("https://[::ffff:10.0.0.1]/"), "endpoint"), (web("https://[64:ff9b::7f00:1]/"), "endpoint"),
    (web("https://[2002:a9fe:a9fe::]/"), "endpoint"), (web("https://[fe80::1%25eth0]/"), "endpoint"),
    (web("https://%6cocalhost/"), "endpoint"), (web("https://1.2.3.4.5/"), "endpoint"),
    (web("https://a.example:99999/"), "endpoint"),
    // The right length and first byte, but not a point on the curve; a point in compressed form; infinity.
    (web("https://a.example/", keys: goodKeys.replacing(key, with: noPoint)), "keys.p256dh"),
    (
        web("https://a.example/", keys: goodKeys.replacing(key, with: "Ag" + key.dropFirst(2).prefix(42))),
        "keys.p256dh"
    ),
    (web("https://a.example/", keys: goodKeys.replacing(key, with: "AA")), "keys.p256dh"),
    (web("https://a.example/", keys: goodKeys.replacing("AAAA\"", with: "\"")), "keys.auth"),
]

@Suite("Registering for push", .timeLimit(.minutes(1)))
struct RegisteringForPush {
    private func targets(of person: Person) async throws -> String {
        try await Psql.run(
            """
            select platform, token, environment, topic, octet_length(p256dh), octet_length(auth)
            from push_targets where user_id = '\(person.id)' order by session_id
            """, conninfo: try await TestNode.shared().database)
    }

    @Test("replaces the earlier registration, and returns the new one")
    func registers() async throws {
        let ann = try await Person.make("Ann")
        let token = ann.id.replacing("-", with: "")
        let apns = #"{"platform":"apns","token":"\#(token)aB","environment":"production","topic":"com.example.app"}"#
        var reply = try await ann.client.put(path, apns)
        #expect(reply.status == 200 && reply.text == apns)
        #expect(try await targets(of: ann) == "apns|\(token)aB|production|com.example.app||")
        reply = try await ann.client.put(
            path, #"{"platform":"apns","token":"\#(token)","environment":"sandbox","topic":null}"#)
        #expect(reply.text == #"{"platform":"apns","token":"\#(token)","environment":"development"}"#)
        reply = try await ann.client.put(path, #"{"platform":"fcm","token":"\#(ann.id):APA91b-_x"}"#)
        #expect(reply.text == #"{"platform":"fcm","token":"\#(ann.id):APA91b-_x"}"#)
        #expect(try await targets(of: ann) == "fcm|\(ann.id):APA91b-_x||||")
        let web = web("https://push.example/\(ann.id)?a=b")
        reply = try await ann.client.put(path, web)
        #expect(reply.status == 200 && reply.text == web)
        #expect(try await targets(of: ann) == "webpush|https://push.example/\(ann.id)?a=b|||65|16")
        // The spelling of some clients.
        let padded = web.replacing(#"AAAAAA"}"#, with: #"AAAAAA=="}"#)
        #expect(try await ann.client.put(path, padded).text == web)

        #expect(try await ann.client.delete(path).status == 204)
        #expect(try await targets(of: ann) == "")
        #expect(try await ann.client.delete(path).status == 204)
    }

    @Test("binds a token to the device that registered it last, until its session ends")
    func moves() async throws {
        let ann = try await Person.make("Ann")
        let ben = try await Person.make("Ben")
        let token = ann.id.replacing("-", with: "")
        let body = #"{"platform":"fcm","token":"\#(token)"}"#
        #expect(try await ann.client.put(path, body).status == 200)
        #expect(try await ben.client.put(path, body).status == 200)
        #expect(try await targets(of: ann) == "")
        #expect(try await targets(of: ben) == "fcm|\(token)||||")
        // The same text is a different token at another service.
        #expect(try await ann.client.put(path, apns(token)).status == 200)
        #expect(try await targets(of: ben) != "")
        #expect(try await ben.client.post("/v1/auth/logout").status == 204)
        #expect(try await targets(of: ben) == "")
        #expect(try await ann.client.delete("/v1/users/me").status == 204)
        #expect(try await targets(of: ann) == "")
    }

    @Test("answers every call when many devices swap tokens at the same time")
    func swaps() async throws {
        let people = try await withThrowingTaskGroup(of: Person.self) { group in
            for index in 0..<4 { group.addTask { try await Person.make("p\(index)") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let tokens = people.map { "swap-\($0.id)" }
        try await withThrowingDiscardingTaskGroup { group in
            for (index, person) in people.enumerated() {
                group.addTask {
                    for round in 0..<20 {
                        let token = tokens[(index + round) % tokens.count]
                        let reply = try await person.client.put(
                            path, #"{"platform":"fcm","token":"\#(token)"}"#)
                        #expect(reply.status == 200, "\(reply.text)")
                    }
                }
            }
        }
    }

    @Test(
        "refuses invalid targets",
        arguments: [
            ("{}", ["platform"]), (#"{"platform":"sms","token":"a","x":1}"#, ["platform", "x"]),
            (#"{"platform":"fcm"}"#, ["token"]), (#"{"platform":"fcm","token":""}"#, ["token"]),
            (#"{"platform":"fcm","token":"a b"}"#, ["token"]), (#"{"platform":"fcm","token":"a/../b"}"#, ["token"]),
            (#"{"platform":"fcm","token":"a","environment":"production"}"#, ["environment"]),
            (#"{"platform":"apns","token":"abababababababab"}"#, ["environment"]),
            (#"{"platform":"apns","token":7,"environment":"test"}"#, ["token", "environment"]),
            (#"{"platform":"apns","token":"abababababababab","environment":"production","topic":"a b"}"#, ["topic"]),
            (#"{"platform":"webpush"}"#, ["endpoint", "keys"]),
            (web("http://a.example"), ["endpoint"]), (web("https://"), ["endpoint"]),
            (web("https://u:p@a.example/"), ["endpoint"]), (web("https://a.example/#x"), ["endpoint"]),
            (
                #"{"platform":"webpush","endpoint":"https://a.example/","keys":{"p256dh":"AAAA","auth":"AAAA"}}"#,
                ["keys.p256dh", "keys.auth"]
            ),
            (
                #"{"platform":"webpush","endpoint":"https://a.example/","keys":{"auth":"!","y":1}}"#,
                ["keys.p256dh", "keys.auth", "keys.y"]
            ),
        ])
    private func refuses(_ body: String, _ fields: [String]) async throws {
        let reply = try await Person.make("Ann").client.put(path, body)
        #expect(reply.status == 422)
        #expect(Set(reply.errorFields) == Set(fields), "\(reply.text)")
    }

    @Test(
        "refuses targets that can never work: invalid tokens, private hosts, keys not on the curve",
        arguments: useless)
    private func refusesUseless(_ body: String, _ field: String) async throws {
        let reply = try await Person.make("Ann").client.put(path, body)
        #expect(reply.status == 422 && reply.errorFields == [field], "\(body): \(reply.text)")
    }

    @Test("refuses platforms that the service does not send to, and has no key for browsers then")
    func unconfigured() async throws {
        let node = try await TestNode {
            ($0.apnsKeyFile, $0.fcmAccountFile, $0.webPushSubject) = (nil, nil, nil)
        }
        let ann = try await Person.make("Ann", port: node.port)
        let token = String(repeating: "ab", count: 32)
        for body in [apns(token), #"{"platform":"fcm","token":"abc"}"#, web("https://push.example/1")] {
            let reply = try await ann.client.put(path, body)
            #expect(reply.status == 422 && reply.problemCode == "push_not_configured", "\(reply.text)")
            #expect(reply.errorFields == ["platform"])
        }
        // Fields are read first.
        let invalid = try await ann.client.put(path, apns("xyz"))
        #expect(invalid.problemCode == "invalid" && invalid.errorFields == ["token"])
        let stored = try await Psql.run("select count(*) from push_targets", conninfo: node.database)
        #expect(stored == "0")
        let key = try await ann.client.get("/v1/push/webpush-key")
        #expect(key.status == 404 && key.problemCode == "not_found")
    }

    @Test("returns the key that browsers subscribe with")
    func key() async throws {
        let reply = try await Person.make("Ann").client.get("/v1/push/webpush-key")
        #expect(reply.status == 200)
        let stored = try await TestNode.shared().store.secret(named: "webpush", otherwise: [])
        #expect(try reply.string("public_key") == VAPIDKeyPair(privateBytes: stored)?.publicText)
    }
}
