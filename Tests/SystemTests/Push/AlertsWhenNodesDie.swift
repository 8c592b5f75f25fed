// Alerts while nodes are killed: between planning and sending, and between sending and recording the outcome.
import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Alerts of nodes that are killed", .timeLimit(.minutes(3)))
    struct AlertsWhenNodesDie {
        /// Other nodes claim a killed node's alerts after a minute. This ends the leases at once.
        private static let endLeases =
            "update push_jobs set due_at = now() where due_at > now() and due_at < 'infinity'"

        @Test("claimed by a killed node are sent by another node under the same id")
        func inHand() async throws {
            let place = try await PushNodes.make()
            let a = Connection(place.nodes.a.address)
            let ann = try await a.register("Ann")
            let ben = try await a.register("Ben")
            let thread = try await a.thread("direct", by: ann, with: [ben])
            let phone = try await Phone.apns(ben, at: a)
            try await place.nodes.b.whileStopped {
                try await place.sinks.behave(.lost, of: .apns, for: phone.token)
                try await place.sinks.behave(.hang, of: .apns, for: phone.token, times: 100)
                _ = try await a.sent("one", in: thread, as: ann)
                // The service accepted the alert, and the node cannot know.
                try await place.sinks.accepted(.apns, token: phone.token, count: 1)
                try await place.nodes.a.kill()
            }
            try await place.sinks.restore(.apns)
            _ = try await place.sql(Self.endLeases)
            let alerts = try await place.sinks.accepted(.apns, token: phone.token, count: 2)
            #expect(Set(alerts.map(\.id)).count == 1 && Set(alerts.map(\.messageID)).count == 1)
            try await eventually("nothing to send") {
                try await place.sql("select count(*) from push_jobs") == "0"
            }
            #expect(try place.sinks.accepted(.apns, token: phone.token).count == 2)
            try await place.nodes.b.stop()
        }

        @Test("all arrive, none under two ids, whenever a node is killed")
        func storm() async throws {
            let sinks = try await PushSinks.start()
            let database = try await MigratedDatabase.create()
            let settings = PushNodes.settings(sinks)
            let steady = try await Node.start(database: database, settings: settings)
            let connection = Connection(steady.address)
            let ann = try await connection.register("Ann")
            var phones: [Phone] = []
            for _ in 0..<8 { phones.append(try await Phone.apns(try await connection.register("Ben"), at: connection)) }
            let thread = try await connection.thread("group", by: ann, with: phones.map(\.person))
            var messages: [String] = []
            for _ in 0..<3 {
                let other = try await Node.start(database: database, settings: settings)
                for _ in 0..<20 { messages.append(try await connection.sent("x", in: thread, as: ann)) }
                // In the middle of the work.
                let count = try sinks.accepted(.apns).count
                try await sinks.accepted(.apns, count: count + 20)
                try await other.kill()
                _ = try await Psql.run(Self.endLeases, conninfo: database)
            }
            let all = try await sinks.accepted(.apns, count: messages.count * phones.count)
            try await eventually("nothing to send") {
                try await Psql.run("select count(*) from push_jobs", conninfo: database) == "0"
            }
            let alerts = try sinks.accepted(.apns)
            for phone in phones {
                let own = alerts.filter { $0.token == phone.token }
                #expect(Set(own.compactMap(\.messageID)) == Set(messages))
                #expect(Set(own.compactMap(\.id)).count == messages.count)
            }
            // The alerts that two nodes had claimed, because the leases were ended above.
            #expect(
                alerts.count - messages.count * phones.count <= 3 * phones.count, "\(all.count) and \(alerts.count)")
            try await steady.stop()
        }
    }
}
