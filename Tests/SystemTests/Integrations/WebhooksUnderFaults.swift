// An endpoint that fails in every way while nodes are killed: nothing is lost, and order holds.
import Foundation
import TestSupport
import Testing

/// The settings of the long form, from the environment.
private enum Scale {
    static let faultSeconds = ProcessInfo.processInfo.environment["WEBHOOK_SECONDS"].flatMap { Double($0) } ?? 15
    static var minutesMax: Int { 5 + Int(faultSeconds / 40) }
}

extension SystemTests {
    /// `WEBHOOK_SECONDS` is the time with faults: 15 in CI; 3,600 for a consumer that misbehaves for an hour.
    @Suite("Webhooks under faults", .timeLimit(.minutes(Scale.minutesMax)))
    struct WebhooksUnderFaults {
        private static let threadCount = 8
        /// Enough tries that no event is parked.
        private static let retries = Array(repeating: "1", count: 30).joined(separator: ",")

        @Test(
            "get each event at least once under its id, in order in each thread, and a healthy endpoint is undisturbed")
        func faults() async throws {
            let database = try await MigratedDatabase.create()
            var settings = WebhookStage.settings(retries: Self.retries)
            settings["PARLEY_DRAIN_SECONDS"] = "1"
            let nodes = try await RestartableNodes.start(2, on: database, settings: settings)
            let steady = try await Node.start(
                database: database, settings: WebhookStage.settings(retries: Self.retries))
            let connection = Connection(steady.address)
            let sink = try await WebhookSink.start(seed: Seed.fresh("webhooks under faults"))
            let stage = try await WebhookStage(sink, database: database, at: connection)
            let bad = try await stage.webhook("/bad", ["types": ["message.created"]])
            let good = try await stage.webhook("/good", ["types": ["message.created"]])
            var threads: [String] = []
            for _ in 0..<Self.threadCount { threads.append(try await stage.thread()) }

            let end = ContinuousClock.now + .seconds(Scale.faultSeconds)
            let isOver = Flag()
            defer { isOver.set() }
            let sending = Task { [threads] in
                let writer = Connection(steady.address)
                var sent: [String] = []
                while !isOver.isSet {
                    sent.append(
                        try await writer.sent("\(sent.count)", in: threads[sent.count % threads.count], as: stage.ann))
                    try await Task.sleep(for: .milliseconds(40))
                }
                return sent
            }
            try await sink.behave(.faults(share: 0.3), of: "/bad", times: .max)
            var round = 0
            while ContinuousClock.now < end || round < 3 {
                // Deliveries continue between two kills.
                let before = try sink.acceptedIDs("/good").count
                try await eventually("20 more events at /good", within: .seconds(60)) {
                    try sink.acceptedIDs("/good").count >= before + 20
                }
                // Whichever of the two has the lease of an endpoint: its end takes the other one's wait away.
                let index = round % 2
                try await nodes.kill(index)
                try await Self.endLeases(of: database)
                try await nodes.restart(index)
                // Also keeps the connection: a node closes one that is idle for long.
                #expect(try await stage.get(bad.id)["lost_events"] == 0)
                if round % 3 == 1 {
                    try await sink.restore("/bad")
                    try await sink.behave(.hang, of: "/bad", times: 2)
                    try await sink.behave(.answer(429, headers: ["retry-after": "1"]), of: "/bad", times: 3)
                    try await sink.behave(.faults(share: 0.3), of: "/bad", times: .max)
                }
                round += 1
            }
            isOver.set()
            let sent = try await sending.value
            try await sink.restore("/bad")

            // Down for a while: no request arrives.
            try await sink.close()
            var late: [String] = []
            for number in 0..<20 {
                late.append(
                    try await connection.sent("late \(number)", in: threads[number % threads.count], as: stage.ann))
            }
            try await eventually("failed deliveries to both", within: .seconds(60), every: .milliseconds(100)) {
                for hook in [bad, good] where try await stage.deliveries(hook.id, "failed").isEmpty { return false }
                return true
            }
            try await sink.open()

            let all = sent + late
            for path in ["/good", "/bad"] { try await stage.accepted(path, count: all.count, within: .seconds(90)) }
            for hook in [bad, good] { try await stage.caughtUp(hook.id, within: .seconds(90)) }
            for path in ["/good", "/bad"] { try Self.check(sink, path, sent: all) }
            #expect(try await stage.deliveries(bad.id, "parked") == [])
            #expect(try await stage.get(bad.id)["lost_events"] == 0)

            // Only deaths of nodes disturb the good endpoint.
            let requests = try sink.requests("/good")
            #expect(requests.filter { !$0.isAccepted }.isEmpty)
            #expect(try sink.requests("/bad").contains { !$0.isAccepted })
            try await eventually("no lag in the metrics", every: .milliseconds(250)) {
                var (lag, seconds) = (0.0, 0.0)
                for node in [await nodes[0], await nodes[1], steady] {
                    lag += try await node.metric("parley_webhook_lag_events") ?? 0
                    seconds += try await node.metric("parley_webhook_lag_seconds") ?? 0
                }
                return lag == 0 && seconds == 0
            }
            try await nodes.stopAll()
            try await steady.stop()
        }

        @Test("survive the death of all nodes, with what failed and what waits")
        func allNodesDie() async throws {
            let database = try await MigratedDatabase.create()
            let settings = WebhookStage.settings(retries: Self.retries)
            let nodes = try await RestartableNodes.start(2, on: database, settings: settings)
            let sink = try await WebhookSink.start()
            let stage = try await WebhookStage(sink, database: database, at: Connection(nodes.addresses[0]))
            let hook = try await stage.webhook("/a", ["types": ["message.created"]])
            let threads = [try await stage.thread(), try await stage.thread()]
            try await sink.behave(.answer(500), of: "/a", times: .max)
            var sent: [String] = []
            for number in 0..<10 {
                sent.append(try await stage.caller.sent("\(number)", in: threads[number % 2], as: stage.ann))
            }
            try await eventually("two failed deliveries") {
                let (failed, pending) = (
                    try await stage.deliveries(hook.id, "failed"), try await stage.deliveries(hook.id, "pending")
                )
                return failed.count == 2 && pending.count == 8
            }
            for index in 0..<2 { try await nodes.kill(index) }
            try await sink.restore("/a")
            try await Self.endLeases(of: database)
            for index in 0..<2 { try await nodes.restart(index) }
            try await stage.accepted("/a", count: sent.count)
            try Self.check(sink, "/a", sent: sent)
            try await stage.caughtUp(hook.id)
            try await nodes.stopAll()
        }

        /// Makes the endpoints of a killed node free at once. Otherwise other nodes wait up to 25 s.
        private static func endLeases(of database: String) async throws {
            _ = try await Psql.run("update webhook_states set lease_until = '-infinity'", conninfo: database)
        }

        /// Checks that a path has accepted each message under one id, and each thread's in their order.
        private static func check(_ sink: WebhookSink, _ path: String, sent: [String]) throws {
            let accepted = try sink.requests(path).filter(\.isAccepted)
            #expect(accepted.flatMap(\.refusals) == [], "\(path)")
            var ids: [String: Set<String>] = [:]
            var firsts: [String: [Int]] = [:]
            var seen: Set<String> = []
            for request in accepted {
                let message = request.json["data"]["id"].string ?? ""
                ids[message, default: []].insert(request.id ?? "")
                guard seen.insert(message).inserted, let seq = request.json["data"]["seq"].int else { continue }
                firsts[request.json["thread_id"].string ?? "", default: []].append(seq)
            }
            #expect(ids.values.allSatisfy { $0.count == 1 }, "\(path): an event has two ids")
            #expect(Set(sent).subtracting(ids.keys).isEmpty, "\(path): events are lost")
            for (thread, seqs) in firsts {
                #expect(seqs == seqs.sorted(), "\(path) \(thread): \(seqs)")
            }
        }
    }
}
