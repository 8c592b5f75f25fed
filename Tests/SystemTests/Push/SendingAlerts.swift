// Alerts, from a message on one node to the push service: two nodes, and services that check what they receive.
import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Alerts", .timeLimit(.minutes(3)))
    struct SendingAlerts {
        private static let start = Task { try await PushNodes.make() }

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

        /// Ann, and Ben with a phone, in a direct thread.
        private func pair() async throws -> (ann: Person, ben: Phone, thread: String) {
            let (ann, ben) = (try await a.register("Ann"), try await a.register("Ben"))
            return (ann, try await Phone.apns(ben, at: b), try await a.thread("direct", by: ann, with: [ben]))
        }

        /// Outcomes are recorded a moment after sending.
        private func noneLeft(in thread: String) async throws {
            try await eventually("nothing to send") {
                try await place.sql("select count(*) from push_jobs where thread_id = '\(thread)'") == "0"
            }
        }

        @Test("show sender and text with the total unread count, once")
        func basics() async throws {
            let (ann, ben, thread) = try await pair()
            let first = try await a.sent("hi Ben", in: thread, as: ann)
            let second = try await b.sent("are you there?", in: thread, as: ann)
            let alerts = try await sinks.accepted(.apns, token: ben.token, count: 2)
            #expect(alerts.map(\.messageID) == [first, second])
            #expect(alerts.map(\.text) == ["hi Ben", "are you there?"])
            #expect(alerts.map(\.badge) == [2, 2])
            #expect(alerts[0].json["aps"]["alert"]["title"].string == "Ann")
            #expect(Set(alerts.map(\.collapse)) == [thread] && Set(alerts.compactMap(\.id)).count == 2)
            #expect(alerts.allSatisfy { $0.kind == "alert" && $0.topic == PushSinks.topic })
            try await noneLeft(in: thread)
        }

        @Test("read on one device are removed from the others, silently and with the right count")
        func readElsewhere() async throws {
            let (ann, ben, thread) = try await pair()
            let tablet = try await Phone.apns(try await a.logIn(again: ben.person), at: a)
            _ = try await a.sent("one", in: thread, as: ann)
            try await sinks.accepted(.apns, token: ben.token, count: 1)
            try await sinks.accepted(.apns, token: tablet.token, count: 1)
            #expect(try await b.put("/v1/threads/\(thread)/receipts", ["read": 1], as: tablet.person).status == 204)
            let alerts = try await sinks.accepted(.apns, token: ben.token, count: 2)
            #expect(alerts[1].isSilent && alerts[1].badge == 0 && alerts[1].collapse == thread)
            #expect(alerts[1].json["thread_id"].string == thread && alerts[1].json["read_up_to"].int == 1)
        }

        @Test("are accepted exactly once, whatever a service does to the first attempt")
        func faults() async throws {
            let behaviours: [PushSinks.Behaviour] = [
                .answer(503, reason: "ServiceUnavailable"),
                .answer(429, reason: "TooManyRequests", headers: ["retry-after": "1"]), .drop, .torn, .refuse, .reset,
                .goAway, .goAwayAfter, .answer(500, reason: "InternalServerError"),
            ]
            let ann = try await a.register("Ann")
            var phones: [Phone] = []
            for behaviour in behaviours {
                let phone = try await Phone.apns(try await a.register("Ben"), at: b)
                try await sinks.behave(behaviour, of: .apns, for: phone.token)
                phones.append(phone)
            }
            let thread = try await a.thread("group", by: ann, with: phones.map(\.person))
            let message = try await a.sent("once", in: thread, as: ann)
            for phone in phones { try await sinks.accepted(.apns, token: phone.token, count: 1) }
            try await noneLeft(in: thread)
            for (behaviour, phone) in zip(behaviours, phones) {
                let alerts = try sinks.accepted(.apns, token: phone.token)
                #expect(alerts.map(\.messageID) == [message], "\(behaviour): \(alerts)")
            }
        }

        @Test("resume after the provider token is renewed")
        func renewal() async throws {
            let (ann, ben, thread) = try await pair()
            let token = try await Phone.fcm(try await a.logIn(again: ben.person), at: a).token
            _ = try await a.sent("one", in: thread, as: ann)
            try await sinks.accepted(.fcm, token: token, count: 1)
            try await sinks.expireAccessTokens()
            _ = try await a.sent("two", in: thread, as: ann)
            let alerts = try await sinks.accepted(.fcm, token: token, count: 2)
            #expect(alerts.count == 2 && alerts[0].signer != alerts[1].signer)
        }

        @Test("follow the account's preference, for every service")
        func privacy() async throws {
            let ann = try await a.register("Annika")
            let preferences = ["full", "sender_only", "none"]
            var readers: [Person] = []
            var tokens: [[(service: PushSinks.Service, token: String)]] = []
            for preference in preferences {
                let reader = try await a.register("Ben")
                let set = try await b.call(
                    "PATCH", "/v1/users/me", ["preferences": ["push": .string(preference)]], as: reader)
                #expect(set.status == 200, "\(set)")
                tokens.append(try await Phone.each(of: reader, with: sinks, at: b))
                readers.append(reader)
            }
            let thread = try await a.thread("group", by: ann, with: readers)
            let title = try #require(try await a.get("/v1/threads/\(thread)", as: ann).json["title"].string)
            // Longer than the text of any alert.
            let text = "the secret plan " + String(repeating: "👩‍👩‍👧‍👦\"", count: 400)
            let message = try await a.sent(text, in: thread, as: ann)
            let encrypted = try await a.post(
                "/v1/threads/\(thread)/messages", ["type": "encrypted", "payload": ["ciphertext": "c2VjcmV0IHBsYW4="]],
                as: ann)
            #expect(encrypted.status == 201, "\(encrypted)")
            for (preference, devices) in zip(preferences, tokens) {
                for (service, token) in devices {
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
                try await connection.put(
                    "/v1/sessions/current/push", subscription.target(endpoint: endpoint),
                    as: try await connection.logIn(again: ben))
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
                try await node.metric("parley_push_alerts_total") == Double(registeredCount)
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
