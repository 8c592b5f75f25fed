// The content of alerts, and where they can be sent: the account's preference, ended sessions, addresses that clients
// name.
import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("The content of alerts", .timeLimit(.minutes(3)))
    struct AlertPrivacy {
        private static let start = Task { try await PushNodes.make() }
        private static let path = "/v1/sessions/current/push"

        private let place: PushNodes
        private let sinks: PushSinks
        private let a: Connection
        private let b: Connection

        init() async throws {
            place = try await Self.start.value
            sinks = place.sinks
            a = Connection(place.nodes.a.address)
            b = Connection(place.nodes.b.address)
        }

        private func android(_ person: Person) async throws -> Phone {
            let token = unique("fcm")
            let answer = try await b.put(
                Self.path, ["platform": "fcm", "token": .string(token)], as: try await a.logIn(again: person))
            #expect((200...204).contains(answer.status), "\(answer)")
            return Phone(person: person, token: token)
        }

        private func browser(_ person: Person, _ subscription: PushSinks.Subscription) async throws -> Answer {
            try await b.put(Self.path, registration(subscription), as: try await a.logIn(again: person))
        }

        private func registration(_ subscription: PushSinks.Subscription) -> JSON {
            [
                "platform": "webpush", "endpoint": .string(subscription.endpoint),
                "keys": ["p256dh": .string(subscription.p256dh), "auth": .string(subscription.auth)],
            ]
        }

        /// A person with a device at each service.
        private func reader(_ preference: String) async throws -> (
            person: Person, devices: [(service: PushSinks.Service, token: String)]
        ) {
            let person = try await a.register("Ben")
            let preferences: JSON = ["preferences": ["push": .string(preference)]]
            let set = try await b.call("PATCH", "/v1/users/me", preferences, as: person)
            #expect(set.status == 200, "\(set)")
            let phone = try await Phone.apns(person, at: a)
            let android = try await android(person)
            let subscription = try await sinks.subscribe()
            #expect(try await browser(person, subscription).status < 300)
            return (person, [(.apns, phone.token), (.fcm, android.token), (.webpush, subscription.token)])
        }

        @Test("follows the account's preference, for every service")
        func privacy() async throws {
            let ann = try await a.register("Annika")
            let preferences = ["full", "sender_only", "none"]
            var readers: [(person: Person, devices: [(service: PushSinks.Service, token: String)])] = []
            for preference in preferences { readers.append(try await reader(preference)) }
            let thread = try await a.thread("group", by: ann, with: readers.map(\.person))
            let title = try #require(try await a.get("/v1/threads/\(thread)", as: ann).json["title"].string)
            // Longer than the text of any alert.
            let text = "the secret plan " + String(repeating: "👩‍👩‍👧‍👦\"", count: 400)
            let message = try await a.sent(text, in: thread, as: ann)
            let encrypted = try await a.post(
                "/v1/threads/\(thread)/messages", ["type": "encrypted", "payload": ["ciphertext": "c2VjcmV0IHBsYW4="]],
                as: ann)
            #expect(encrypted.status == 201, "\(encrypted)")
            for (preference, reader) in zip(preferences, readers) {
                for (service, token) in reader.devices {
                    let alerts = try await sinks.accepted(service, token: token, count: 2)
                    #expect(alerts.count == 2)
                    #expect(alerts[0].payload.contains(message))
                    #expect(alerts[0].payload.contains("the secret plan") == (preference == "full"), "\(alerts[0])")
                    #expect(alerts.allSatisfy { !$0.payload.contains("c2VjcmV0") })
                    for name in ["Annika", title] {
                        #expect(alerts.allSatisfy { $0.payload.contains(name) == (preference != "none") }, "\(alerts)")
                    }
                }
            }
        }

        @Test("is no longer sent after the session or the registration ends")
        func ends() async throws {
            let ann = try await a.register("Ann")
            let people = [try await a.register("Ben"), try await a.register("Cleo"), try await a.register("Dan")]
            var phones: [Phone] = []
            for person in people { phones.append(try await Phone.apns(person, at: b)) }
            let thread = try await a.thread("group", by: ann, with: people)
            let logout = try await a.delete("/v1/sessions/\(people[0].session)", as: people[0])
            #expect(logout.status == 204, "\(logout)")
            let unregistered = try await b.delete(Self.path, as: people[1])
            #expect(unregistered.status == 204, "\(unregistered)")
            let message = try await a.sent("who hears this?", in: thread, as: ann)
            let alerts = try await sinks.accepted(.apns, token: phones[2].token, count: 1)
            #expect(alerts.map(\.messageID) == [message])
            #expect(try sinks.requestCount(of: .apns, token: phones[0].token) == 0)
            #expect(try sinks.requestCount(of: .apns, token: phones[1].token) == 0)
        }

        @Test("goes only to the account that registered a token last")
        func moves() async throws {
            let (ann, ben) = (try await a.register("Ann"), try await a.register("Ben"))
            let cleo = try await a.register("Cleo")
            let phone = try await Phone.apns(ben, at: a)
            // Another account registers the same phone.
            let taken = try await b.put(
                Self.path, ["platform": "apns", "token": .string(phone.token), "environment": "production"], as: cleo)
            #expect((200...204).contains(taken.status), "\(taken)")
            let forBen = try await a.thread("direct", by: ann, with: [ben])
            let forCleo = try await a.thread("direct", by: ann, with: [cleo])
            _ = try await a.sent("for Ben", in: forBen, as: ann)
            let message = try await a.sent("for Cleo", in: forCleo, as: ann)
            let alerts = try await sinks.accepted(.apns, token: phone.token, count: 1)
            #expect(alerts.map(\.messageID) == [message])
            #expect(alerts[0].badge == 1)
        }

        @Test("is signed with the same key by all nodes, and after restarts")
        func key() async throws {
            let ann = try await a.register("Ann")
            func key(_ caller: some Caller) async throws -> String {
                let answer = try await caller.get("/v1/push/webpush-key", as: ann)
                #expect(answer.status == 200, "\(answer)")
                return try #require(answer.json["public_key"].string)
            }
            let text = try await key(a)
            #expect(try await key(b) == text)
            // 65 bytes in base64url.
            #expect(text.wholeMatch(of: /[\w-]{87}/) != nil)
            let later = try await Node.start(database: place.nodes.database, settings: PushNodes.settings(sinks))
            #expect(try await key(Connection(later.address)) == text)
            let subscription = try await sinks.subscribe()
            #expect(try await browser(ann, subscription).status < 300)
            let ben = try await a.register("Ben")
            _ = try await a.sent("hi", in: try await a.thread("direct", by: ben, with: [ann]), as: ben)
            let alerts = try await sinks.accepted(.webpush, token: subscription.token, count: 1)
            #expect(alerts[0].signer == text)
            try await later.stop()
        }

        @Test("cannot be sent into a private network by registering an address there")
        func privateAddresses() async throws {
            let sinks = try await PushSinks.start()
            let settings = PushNodes.settings(sinks).merging(["PARLEY_PUSH_ALLOW_PRIVATE": "false"]) { $1 }
            let database = try await MigratedDatabase.create()
            let node = try await Node.start(database: database, settings: settings)
            let connection = Connection(node.address)
            let (ann, ben) = (try await connection.register("Ann"), try await connection.register("Ben"))
            let port = try #require(sinks.ports[.webpush])
            let subscription = try await sinks.subscribe()
            let path = "/push/\(subscription.token)"
            func register(_ endpoint: String) async throws -> Answer {
                var body = registration(subscription)
                if case .object(var members) = body {
                    members["endpoint"] = .string(endpoint)
                    body = .object(members)
                }
                return try await connection.put(Self.path, body, as: try await connection.logIn(again: ben))
            }
            #expect(try await register("http://push.example\(path)").status == 422)
            // Each registration is a device, so each gets an alert. A name may lead anywhere by the time an alert is sent:
            // each target here leads to a private address only after it was registered.
            let hosts = ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433"]
            for (index, host) in hosts.enumerated() {
                #expect(try await register("https://\(host):\(port)\(path)").status == 422)
                #expect(try await register("https://push\(index).example:\(port)\(path)").status == 200)
                try await Psql.run(
                    "update push_targets set token = replace(token, 'push\(index).example', '\(host)')",
                    conninfo: database)
            }
            let registeredCount = hosts.count
            let thread = try await connection.thread("direct", by: ann, with: [ben])
            _ = try await connection.sent("hi", in: thread, as: ann)
            try await eventually("all to be dropped") {
                // No other alert was due yet.
                try await node.metric("parley_push_alerts_total") == Double(registeredCount) ? true : nil
            }
            // Addresses that the operator configures may be private.
            let phone = try await Phone.apns(try await connection.logIn(again: ben), at: connection)
            _ = try await connection.sent("hi again", in: thread, as: ann)
            try await sinks.accepted(.apns, token: phone.token, count: 1)
            #expect(try sinks.connectionCount(of: .webpush) == 0)
            try await node.stop()
        }
    }
}
