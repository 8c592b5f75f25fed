// Where a device gets its alerts.
import Domain
import TestSupport
import Testing

@Suite("Registering for push")
struct RegisteringForPush {
    private static let path = "/v1/sessions/current/push"
    /// 65 and 16 bytes.
    private static let keys = #"{"p256dh":"\#(TestNode.webPushKey)","auth":"AAAAAAAAAAAAAAAAAAAAAA"}"#

    private func targets(of person: Person) async throws -> String {
        try await Psql.run(
            """
            select platform, token, environment, topic, octet_length(p256dh), octet_length(auth)
            from push_targets where user_id = '\(person.id)' order by session_id
            """, conninfo: try await TestNode.shared().database)
    }

    @Test("keeps what is registered, in place of what was before, and answers with it")
    func registers() async throws {
        let ann = try await Person.make("Ann")
        let apns = #"{"platform":"apns","token":"\#(ann.id)ab","environment":"production","topic":"com.example.app"}"#
        var reply = try await ann.client.put(Self.path, apns)
        #expect(reply.status == 200 && reply.text == apns)
        #expect(try await targets(of: ann) == "apns|\(ann.id)ab|production|com.example.app||")
        reply = try await ann.client.put(
            Self.path, #"{"platform":"apns","token":"\#(ann.id)","environment":"sandbox","topic":null}"#)
        #expect(reply.text == #"{"platform":"apns","token":"\#(ann.id)","environment":"development"}"#)
        reply = try await ann.client.put(Self.path, #"{"platform":"fcm","token":"\#(ann.id):APA91b-_x"}"#)
        #expect(reply.text == #"{"platform":"fcm","token":"\#(ann.id):APA91b-_x"}"#)
        #expect(try await targets(of: ann) == "fcm|\(ann.id):APA91b-_x||||")
        let web = #"{"platform":"webpush","endpoint":"https://push.example/\#(ann.id)?a=b","keys":\#(Self.keys)}"#
        reply = try await ann.client.put(Self.path, web)
        #expect(reply.status == 200 && reply.text == web)
        #expect(try await targets(of: ann) == "webpush|https://push.example/\(ann.id)?a=b|||65|16")
        // As some clients write it.
        let padded = web.replacing(#"AAAAAA"}"#, with: #"AAAAAA=="}"#)
        #expect(try await ann.client.put(Self.path, padded).text == web)

        #expect(try await ann.client.delete(Self.path).status == 204)
        #expect(try await targets(of: ann) == "")
        #expect(try await ann.client.delete(Self.path).status == 204)
    }

    @Test("is one device's: a token moves to who registers it last, and goes with the session")
    func moves() async throws {
        let ann = try await Person.make("Ann")
        let ben = try await Person.make("Ben")
        let body = #"{"platform":"fcm","token":"shared-\#(ann.id)"}"#
        #expect(try await ann.client.put(Self.path, body).status == 200)
        #expect(try await ben.client.put(Self.path, body).status == 200)
        #expect(try await targets(of: ann) == "")
        #expect(try await targets(of: ben) == "fcm|shared-\(ann.id)||||")
        // The same text is another token elsewhere.
        let apns = #"{"platform":"apns","token":"shared-\#(ann.id)","environment":"production"}"#
        #expect(try await ann.client.put(Self.path, apns).status == 200)
        #expect(try await targets(of: ben) != "")
        #expect(try await ben.client.post("/v1/auth/logout").status == 204)
        #expect(try await targets(of: ben) == "")
        #expect(try await ann.client.delete("/v1/users/me").status == 204)
        #expect(try await targets(of: ann) == "")
    }

    @Test("swaps of tokens between many devices at once all get an answer")
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
                            Self.path, #"{"platform":"fcm","token":"\#(token)"}"#)
                        #expect(reply.status == 200, "\(reply.text)")
                    }
                }
            }
        }
    }

    @Test(
        "refuses what can't be a target",
        arguments: [
            ("{}", ["platform"]), (#"{"platform":"sms","token":"a","x":1}"#, ["platform", "x"]),
            (#"{"platform":"fcm"}"#, ["token"]), (#"{"platform":"fcm","token":""}"#, ["token"]),
            (#"{"platform":"fcm","token":"a b"}"#, ["token"]), (#"{"platform":"fcm","token":"a/../b"}"#, ["token"]),
            (#"{"platform":"fcm","token":"a","environment":"production"}"#, ["environment"]),
            (#"{"platform":"apns","token":"a"}"#, ["environment"]),
            (#"{"platform":"apns","token":7,"environment":"test"}"#, ["token", "environment"]),
            (#"{"platform":"apns","token":"a","environment":"production","topic":"a b"}"#, ["topic"]),
            (#"{"platform":"webpush"}"#, ["endpoint", "keys"]),
            (#"{"platform":"webpush","endpoint":"http://a.example","keys":\#(keys)}"#, ["endpoint"]),
            (#"{"platform":"webpush","endpoint":"https://","keys":\#(keys)}"#, ["endpoint"]),
            (#"{"platform":"webpush","endpoint":"https://u:p@a.example/","keys":\#(keys)}"#, ["endpoint"]),
            (#"{"platform":"webpush","endpoint":"https://a.example/#x","keys":\#(keys)}"#, ["endpoint"]),
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
        let reply = try await Person.make("Ann").client.put(Self.path, body)
        #expect(reply.status == 422)
        #expect(Set(reply.errorFields) == Set(fields), "\(reply.text)")
    }

    @Test("gives the key that browsers subscribe with")
    func key() async throws {
        let reply = try await Person.make("Ann").client.get("/v1/push/webpush-key")
        #expect(reply.status == 200)
        #expect(try reply.string("public_key") == TestNode.webPushKey)
    }
}
