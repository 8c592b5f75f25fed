// A failure at one push service or its loop, which does not affect the others.
import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Alert loops", .timeLimit(.minutes(3)))
    struct AlertLoops {
        /// Ann, who writes to Ben, who has a phone, a tablet and a browser.
        private struct Talk {
            let sinks: PushSinks
            let ann: Person
            let thread: String
            let devices: [(service: PushSinks.Service, token: String)]

            init(_ sinks: PushSinks, at caller: some Caller) async throws {
                self.sinks = sinks
                ann = try await caller.register("Ann")
                let ben = try await caller.register("Ben")
                thread = try await caller.thread("direct", by: ann, with: [ben])
                devices = try await Phone.each(of: ben, with: sinks, at: caller)
            }

            /// Returns the messages that a service delivered to Ben's device, once there are `count`.
            func told(by service: PushSinks.Service, count: Int) async throws -> [String?] {
                let token = devices.first { $0.service == service }?.token
                return try await sinks.accepted(service, token: token, count: count).map { alert in
                    let json = alert.json
                    return (json["message"]["data"]["message_id"].string ?? json["message_id"].string)
                }
            }
        }

        @Test("do not delay each other: with one service down and another refusing, no alert is lost or sent twice")
        func apart() async throws {
            let sinks = try await PushSinks.start()
            let database = try await MigratedDatabase.create()
            let node = try await Node.start(database: database, settings: PushNodes.settings(sinks))
            let connection = Connection(node.address)
            let talk = try await Talk(sinks, at: connection)

            try await sinks.close(.apns)
            let first = try await connection.sent("one", in: talk.thread, as: talk.ann)
            #expect(try await talk.told(by: .fcm, count: 1) == [first])
            #expect(try await talk.told(by: .webpush, count: 1) == [first])
            try await eventually("a failed attempt") {
                try await Psql.run("select count(*) from push_jobs where attempt > 0", conninfo: database) == "1"
            }
            try await sinks.open(.apns)
            #expect(try await talk.told(by: .apns, count: 1) == [first])

            // As if the operator's key had been revoked.
            try await sinks.behave(.answer(403, reason: "InvalidProviderToken"), of: .apns, times: 1_000)
            var sent = [first]
            for text in ["two", "three"] {
                sent.append(try await connection.sent(text, in: talk.thread, as: talk.ann))
                #expect(try await talk.told(by: .fcm, count: sent.count) == sent)
                #expect(try await talk.told(by: .webpush, count: sent.count) == sent)
            }
            try await eventually("the alarm") { try await node.metric("parley_push_halted") == 1 }
            #expect(try sinks.refusals(of: .apns) == ["InvalidProviderToken"])
            try await node.stop()

            // The operator has fixed the key.
            try await sinks.restore(.apns)
            let next = try await Node.start(database: database, settings: PushNodes.settings(sinks))
            #expect(try await talk.told(by: .apns, count: 3) == sent)
            #expect(try await next.metric("parley_push_halted") == 0)
            try await eventually("all alerts to be sent") {
                try await Psql.run("select count(*) from push_jobs", conninfo: database) == "0"
            }
            for (service, _) in talk.devices { #expect(try sinks.accepted(service).count == 3, "\(service)") }
            try await next.stop()
        }

        @Test("release their claims when their node stops, so that another node need not wait for the lease")
        func stopping() async throws {
            let sinks = try await PushSinks.start()
            let database = try await MigratedDatabase.create()
            let node = try await Node.start(database: database, settings: PushNodes.settings(sinks))
            let connection = Connection(node.address)
            let talk = try await Talk(sinks, at: connection)
            try await sinks.behave(.hang, of: .apns)
            let message = try await connection.sent("one", in: talk.thread, as: talk.ann)
            try await eventually("a request without an answer") {
                try sinks.requestCount(of: .apns) == 1
            }
            let next = try await Node.start(database: database, settings: PushNodes.settings(sinks))
            #expect(try await node.stop().exit == .status(0))
            // The test waits for about 20 s, and a lease is 60 s.
            #expect(try await talk.told(by: .apns, count: 1) == [message])
            try await next.stop()
        }

        @Test("use one provider token on all nodes, and log nothing private")
        func oneToken() async throws {
            let sinks = try await PushSinks.start()
            let settings = PushNodes.settings(sinks).merging(["PARLEY_LOG_LEVEL": "debug"]) { $1 }
            let database = try await MigratedDatabase.create()
            let first = try await Node.start(database: database, settings: settings)
            let talk = try await Talk(sinks, at: Connection(first.address))
            // One node after the other: if both ran, the node that is notified first would send nearly all alerts.
            var sent = [try await Connection(first.address).sent("hush one", in: talk.thread, as: talk.ann)]
            for (service, _) in talk.devices { #expect(try await talk.told(by: service, count: 1) == sent) }
            let second = try await Node.start(database: database, settings: settings)
            try await first.stop()
            sent.append(try await Connection(second.address).sent("hush two", in: talk.thread, as: talk.ann))
            for (service, _) in talk.devices { #expect(try await talk.told(by: service, count: 2) == sent) }
            try await second.stop()
            for (service, token) in talk.devices {
                #expect(Set(try sinks.accepted(service, token: token).map(\.signer)).count == 1, "\(service)")
                for node in [first, second] { #expect(!node.program.errors.contains(token)) }
            }
            for node in [first, second] { #expect(!node.program.errors.contains("hush")) }
            #expect(try sinks.requestCount(of: .oauth) == 1)
        }
    }
}
