// The changes feed while nodes are killed: every event at least once under the same id, in order, and none that the
// database does not have. PARLEY_FEED_KILLS sets the number of kills (6).

import Foundation
import Synchronization
import TestSupport
import Testing

/// The settings of the long form, from the environment.
private enum Scale {
    static let killCount = ProcessInfo.processInfo.environment["PARLEY_FEED_KILLS"].flatMap { Int($0) } ?? 6
    static var minutesMax: Int { 4 + killCount / 10 }
    /// How long streams are read: a minute is left for the checks.
    static var readMax: Duration { .seconds(60 * (minutesMax - 1)) }
}

extension SystemTests {
    @Suite("The changes feed", .timeLimit(.minutes(Scale.minutesMax)))
    struct FeedUnderKills {
        private static let token = "admin-of-the-feed-tests"
        private static let settings = ["PARLEY_ADMIN_TOKEN": token, "PARLEY_DRAIN_SECONDS": "1"]
        private static let path = "/v1/admin/changes"

        /// What a reader has seen.
        private struct Seen {
            var ids: [String] = []
            /// By id: the event as it came first.
            var events: [String: JSON] = [:]
            /// Events that came again with other content, or out of order.
            var mistakes: [String] = []
            var repeats = 0
            var answers = 0

            mutating func add(_ page: JSON) {
                answers += 1
                var last = -1
                for event in page["events"].items {
                    let id = event["id"].string ?? ""
                    let position = Int(id.split(separator: "_").last ?? "") ?? -1
                    if position <= last { mistakes.append("\(id) after \(last)") }
                    last = position
                    if let earlier = events[id] {
                        repeats += 1
                        if earlier["type"] != event["type"] { mistakes.append("\(id) was another event") }
                    } else {
                        ids.append(id)
                        events[id] = event
                    }
                }
            }
        }

        /// What senders have done, and whether the kills are over.
        private final class Progress: Sendable {
            let isOver = Flag()
            let sent = Mutex<Set<String>>([])
        }

        private static func request(_ method: String, _ path: String, _ body: JSON? = nil) -> Request {
            var request = Request(method, path)
            request.headers = [("Authorization", "Bearer \(token)")]
            if let body {
                request.headers.append(("Content-Type", "application/json"))
                request.body = body.data
            }
            return request
        }

        /// Reads until `isOver`, through any node, and then to the end.
        /// - Parameter consumer: acknowledges each part, and forgets where it was now and then.
        private static func read(
            from start: String, consumer: String? = nil, through addresses: [Address], _ random: SplitMix64,
            isOver: @Sendable () -> Bool
        ) async -> Seen {
            var (seen, cursor, emptyCount, random) = (Seen(), start, 0, random)
            while emptyCount < 2 {
                let connection = Connection(addresses[random.below(addresses.count)])
                let place = consumer.map { "consumer=\($0)" } ?? "cursor=\(cursor)"
                do {
                    // Some parts on one connection, which its node's death ends.
                    for _ in 0..<random.below(20) + 1 {
                        let next = consumer == nil ? "cursor=\(cursor)" : place
                        let answer = try await connection.send(
                            request("GET", "\(path)?\(next)&wait=2&limit=\(random.below(200) + 1)"))
                        guard answer.status == 200 else { break }
                        seen.add(answer.json)
                        cursor = answer.json["cursor"].string ?? cursor
                        if let consumer, random.chance(2) || isOver() {
                            let body: JSON = ["consumer": .string(consumer), "cursor": .string(cursor)]
                            _ = try await connection.send(request("POST", "\(path)/ack", body))
                        }
                        let isLast = isOver() && answer.json["events"].items.isEmpty && answer.json["more"] == false
                        emptyCount = isLast ? emptyCount + 1 : 0
                        if emptyCount == 2 { break }
                    }
                } catch {
                    try? await Task.sleep(for: .milliseconds(20))
                }
                await connection.close()
            }
            return seen
        }

        /// Reads one stream after the other, until `isOver` and the last event has come.
        private static func stream(
            from start: String, through addresses: [Address], _ random: SplitMix64, isOver: @Sendable () -> Bool,
            isComplete: @Sendable (Seen) async -> Bool
        ) async -> Seen {
            var (seen, cursor, random) = (Seen(), start, random)
            let deadline = ContinuousClock.now + Scale.readMax
            while ContinuousClock.now < deadline {
                let connection = Connection(addresses[random.below(addresses.count)])
                var opening = request("GET", path)
                opening.headers += [("Accept", "text/event-stream"), ("Last-Event-ID", cursor)]
                do {
                    let answer = try await connection.open(opening)
                    while answer.status == 200,
                        let text = try await connection.nextBlock(within: .seconds(isOver() ? 2 : 40))
                    {
                        let block = EventSource.Block(text)
                        if block.data != nil { seen.add(["events": .array([block.json])]) }
                        if let id = block.id { cursor = id }
                    }
                } catch {
                    try? await Task.sleep(for: .milliseconds(20))
                }
                await connection.close()
                if isOver(), await isComplete(seen) { break }
            }
            return seen
        }

        /// The ids of all events that integrations see, as the database has them. Read in pages, because a program's
        /// output is read up to 64 KiB.
        private static func stored(_ database: String) async throws -> [String] {
            let pageSize = 2_000
            var ids: [String] = []
            while true {
                let page = try await Psql.lines(
                    """
                    select 'evt_0_' || (select l.epoch from log_epochs l where l.first_pos <= e.pos
                        order by l.epoch desc limit 1) || '_' || e.pos
                    from events e where coalesce(e.is_change, e.user_id is null)
                    order by e.pos limit \(pageSize) offset \(ids.count)
                    """, in: database)
                ids += page
                if page.count < pageSize { return ids }
            }
        }

        @Test("has every event at least once, under one id and in order, while nodes are killed")
        func killed() async throws {
            let database = try await MigratedDatabase.create()
            let nodes = try await RestartableNodes.start(2, on: database, settings: Self.settings)
            let client = await nodes[0].client
            let people = [
                try await client.register("Ann"), try await client.register("Ben"), try await client.register("Cleo"),
            ]
            let start = try #require(
                try await client.send(Self.request("GET", Self.path)).json["cursor"].string)
            let made = Self.request("PUT", "/v1/admin/consumers/crm", [:])
            #expect(try await client.send(made).status == 201)
            var threads: [String] = []
            for person in people { threads.append(try await client.thread("group", by: person, with: people)) }
            let addresses = nodes.addresses
            let progress = Progress()
            let over: @Sendable () -> Bool = { progress.isOver.isSet }

            var random = SplitMix64(freshFor: "the changes feed while nodes are killed")
            let seeds = (0..<3).map { _ in SplitMix64(seed: random.next()) }
            async let polled = Self.read(from: start, through: addresses, seeds[0], isOver: over)
            async let consumed = Self.read(from: start, consumer: "crm", through: addresses, seeds[1], isOver: over)
            async let streamed = Self.stream(from: start, through: addresses, seeds[2], isOver: over) { seen in
                (try? await Self.stored(database).count == seen.ids.count) ?? false
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (person, thread) in zip(people, threads) {
                    group.addTask {
                        while !over() {
                            let id = newID()
                            // A send is tried again, with its id, until some node has answered.
                            for attempt in 0..<1_000 {
                                let connection = Connection(addresses[attempt % addresses.count])
                                let answer = try? await connection.say("hi", in: thread, as: person, id: id)
                                await connection.close()
                                if [200, 201].contains(answer?.status) { break }
                                try await Task.sleep(for: .milliseconds(10))
                            }
                            progress.sent.withLock { _ = $0.insert(id) }
                        }
                    }
                }
                for number in 0..<Scale.killCount {
                    try await Task.sleep(for: .milliseconds(300 + random.below(600)))
                    try await nodes.kill(number % 2)
                    try await Task.sleep(for: .milliseconds(random.below(300)))
                    try await nodes.restart(number % 2)
                }
                progress.isOver.set()
                try await group.waitForAll()
            }
            let stored = try await Self.stored(database)
            for (name, seen) in [("poll", await polled), ("consumer", await consumed), ("stream", await streamed)] {
                #expect(seen.mistakes == [], "\(name)")
                #expect(seen.ids == stored, "\(name): \(seen.ids.count) of \(stored.count)")
                let messages = seen.events.values.filter { $0["type"] == "message.created" }
                let received = Set(messages.compactMap { $0["data"]["id"].string })
                #expect(progress.sent.withLock { $0.subtracting(received) } == [], "\(name)")
                #expect(messages.allSatisfy { $0["actor"].string == $0["data"]["sender"]["id"].string })
                if name != "consumer" { #expect(seen.repeats == 0, "\(name)") }
            }
            #expect(stored.count > 100)
            let lag = try await client.send(Self.request("GET", "/v1/admin/consumers/crm")).json
            #expect(lag["lag_events"].int ?? -1 >= 0)
            try await nodes.stopAll()
        }

        @Test("is answered when the node stops, and streams end")
        func stops() async throws {
            let database = try await MigratedDatabase.create()
            let node = try await Node.start(database: database, settings: Self.settings)
            let cursor = try #require(
                try await node.client.send(Self.request("GET", Self.path)).json["cursor"].string)
            let (poll, stream) = (Connection(node.address), Connection(node.address))
            try await poll.begin(Self.request("GET", "\(Self.path)?cursor=\(cursor)&wait=50"))
            var opening = Self.request("GET", Self.path)
            opening.headers.append(("Accept", "text/event-stream"))
            #expect(try await stream.open(opening).status == 200)
            try await eventually("two readers") {
                try await node.metric("parley_changes_readers") == 2
            }
            async let stopping = node.stop()
            let answer = try await poll.receive()
            #expect(answer.status == 200 && answer.json["cursor"].string == cursor)
            #expect(answer.headers["connection"] == "close")
            while try await stream.nextBlock(within: .seconds(30)) != nil {}
            #expect(try await stopping.exit == .status(0))
        }
    }
}
