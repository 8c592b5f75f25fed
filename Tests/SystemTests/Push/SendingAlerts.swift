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
        private func pair(at other: Connection? = nil) async throws -> (ann: Person, ben: Phone, thread: String) {
            let caller = other ?? a
            let ann = try await caller.register("Ann")
            let ben = try await caller.register("Ben")
            let thread = try await caller.thread("direct", by: ann, with: [ben])
            return (ann, try await Phone.apns(ben, at: other ?? b), thread)
        }

        /// Outcomes are recorded a moment after sending.
        private func noneLeft(in thread: String) async throws {
            try await eventually("nothing to send") {
                try await place.sql("select count(*) from push_jobs where thread_id = '\(thread)'") == "0" ? true : nil
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

        @Test("go to Android and to browsers too")
        func platforms() async throws {
            let (ann, ben, thread) = try await pair()
            let android = try await a.logIn(again: ben.person)
            let token = unique("fcm")
            let body: JSON = ["platform": "fcm", "token": .string(token)]
            #expect(try await a.put("/v1/sessions/current/push", body, as: android).status < 300)
            let browser = try await b.logIn(again: ben.person)
            let subscription = try await sinks.subscribe()
            let registered = try await b.put(
                "/v1/sessions/current/push",
                [
                    "platform": "webpush", "endpoint": .string(subscription.endpoint),
                    "keys": ["p256dh": .string(subscription.p256dh), "auth": .string(subscription.auth)],
                ], as: browser)
            #expect(registered.status < 300, "\(registered)")
            let message = try await a.sent("for all of them", in: thread, as: ann)
            for (service, name) in [(PushSinks.Service.apns, ben.token), (.fcm, token), (.webpush, subscription.token)]
            {
                let alerts = try await sinks.accepted(service, token: name, count: 1)
                #expect(alerts[0].payload.contains(message) && alerts[0].payload.contains("for all of them"))
            }
        }

        @Test("skip a device that polls, and start with what it lacks once it stops polling")
        func polling() async throws {
            // A busy machine may pause for more than 200 ms between two polls.
            let place = try await PushNodes.make(waitMs: 5_000)
            let (a, b, sinks) = (Connection(place.nodes.a.address), Connection(place.nodes.b.address), place.sinks)
            let (ann, ben, thread) = try await pair(at: a)
            let desk = try await Phone.apns(try await a.logIn(again: ben.person), at: a)
            let start = try await b.cursor(of: desk.person)
            async let poll = b.sync(desk.person, from: start, wait: 25)
            try await place.nodes.b.waitForPolls()
            let first = try await a.sent("one", in: thread, as: ann)
            let answer = try await poll
            #expect(answer.told.first?["data"]["id"].string == first)
            let cursor = try #require(answer.json["cursor"].string)
            // The next poll acknowledges the event.
            _ = try await b.sync(desk.person, from: cursor, wait: 1)
            #expect(try await sinks.accepted(.apns, token: ben.token, count: 1).map(\.messageID) == [first])
            let second = try await a.sent("two", in: thread, as: ann)
            let alerts = try await sinks.accepted(.apns, token: desk.token, count: 1)
            #expect(alerts.map(\.messageID) == [second])
            try await sinks.accepted(.apns, token: ben.token, count: 2)
            try await place.nodes.stop()
        }

        @Test("skip muted threads")
        func muted() async throws {
            let (ann, ben, _) = try await pair()
            let cleo = try await Phone.apns(try await a.register("Cleo"), at: a)
            let thread = try await a.thread("group", by: ann, with: [ben.person, cleo.person])
            let settings = "/v1/threads/\(thread)/settings"
            let mute = try await b.call("PATCH", settings, ["muted_until": "2100-01-01T00:00:00Z"], as: ben.person)
            #expect(mute.status == 200, "\(mute)")
            let first = try await a.sent("one", in: thread, as: ann)
            try await sinks.accepted(.apns, token: cleo.token, count: 1)
            #expect(try await b.call("PATCH", settings, ["muted_until": nil], as: ben.person).status == 200)
            let second = try await a.sent("two", in: thread, as: ann)
            let alerts = try await sinks.accepted(.apns, token: ben.token, count: 1)
            #expect(alerts.map(\.messageID) == [second], "not \(first)")
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

        @Test("delayed for a while show the state at the time of sending")
        func readMeanwhile() async throws {
            let (ann, ben, thread) = try await pair()
            let tablet = try await a.logIn(again: ben.person)
            try await sinks.behave(
                .answer(503, reason: "Shutdown", headers: ["retry-after": "5"]), of: .apns, for: ben.token)
            _ = try await a.sent("one", in: thread, as: ann)
            try await eventually("a refusal") {
                try sinks.refusals(of: .apns, token: ben.token) == ["Shutdown"] ? true : nil
            }
            #expect(try await b.put("/v1/threads/\(thread)/receipts", ["read": 1], as: tablet).status == 204)
            let alerts = try await sinks.accepted(.apns, token: ben.token, count: 1)
            #expect(alerts[0].isSilent && alerts[0].badge == 0)
            let again = try await a.sent("two", in: thread, as: ann)
            #expect(try await sinks.accepted(.apns, token: ben.token, count: 2).last?.messageID == again)
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

        @Test("whose answer was lost are sent again under the same id")
        func lostAnswer() async throws {
            let (ann, ben, thread) = try await pair()
            try await sinks.behave(.lost, of: .apns, for: ben.token)
            _ = try await a.sent("one", in: thread, as: ann)
            let alerts = try await sinks.accepted(.apns, token: ben.token, count: 2)
            #expect(Set(alerts.map(\.id)).count == 1 && Set(alerts.map(\.collapse)).count == 1)
        }

        @Test("stop going to a token that has become invalid")
        func deadTokens() async throws {
            let (ann, ben, thread) = try await pair()
            try await sinks.behave(.answer(410, reason: "Unregistered"), of: .apns, for: ben.token)
            _ = try await a.sent("one", in: thread, as: ann)
            try await eventually("the token to be deleted") {
                try await place.sql("select count(*) from push_targets where token = '\(ben.token)'") == "0"
                    ? true : nil
            }
            #expect(try sinks.requestCount(of: .apns, token: ben.token) == 1)
            #expect(
                try await place.sql("select count(*) from push_jobs where session_id = '\(ben.person.session)'") == "0")
        }

        @Test("resume after the provider token is renewed")
        func renewal() async throws {
            let (ann, ben, thread) = try await pair()
            let android = try await a.logIn(again: ben.person)
            let token = unique("fcm")
            let body: JSON = ["platform": "fcm", "token": .string(token)]
            #expect(try await a.put("/v1/sessions/current/push", body, as: android).status < 300)
            _ = try await a.sent("one", in: thread, as: ann)
            try await sinks.accepted(.fcm, token: token, count: 1)
            try await sinks.expireAccessTokens()
            _ = try await a.sent("two", in: thread, as: ann)
            let alerts = try await sinks.accepted(.fcm, token: token, count: 2)
            #expect(alerts.count == 2 && alerts[0].signer != alerts[1].signer)
        }
    }
}
