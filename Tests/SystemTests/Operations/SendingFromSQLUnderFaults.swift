// Transactions of another program with random rollbacks, while nodes and PostgreSQL are killed: exactly the committed
// messages arrive, once, in order. 500 transactions with the other tests, any number by SQL_TRANSACTIONS.

import Foundation
import Synchronization
import TestSupport
import Testing

/// The settings of the long form, from the environment.
private enum Scale {
    private static let environment = ProcessInfo.processInfo.environment

    /// Nil for a value that cannot be parsed.
    static let transactionCount: Int? = environment["SQL_TRANSACTIONS"].map { Int($0) } ?? 500
    static var minutesMax: Int { 5 + (transactionCount ?? 0) / 500 }
}

extension SystemTests {
    @Suite("Sending from SQL under faults", .timeLimit(.minutes(Scale.minutesMax)))
    struct SendingFromSQLUnderFaults {
        private static let connectionCount = 6
        private static let threadCount = 4
        /// Transactions of one psql session.
        private static let sessionCount = 10

        /// The transactions still to be done, by the number of the next one.
        private final class Work: Sendable {
            private let next: Mutex<Int>
            private let count: Int

            init(_ count: Int) {
                self.count = count
                next = Mutex(0)
            }

            var doneCount: Int { next.withLock { min($0, count) } }
            func take(_ some: Int) -> Range<Int>? {
                next.withLock { next in
                    guard next < count else { return nil }
                    defer { next += some }
                    return next..<min(count, next + some)
                }
            }
        }

        /// What a connection does in some transactions: each sends one to three messages, records their ids in a table
        /// of its own, and commits or rolls back. So the table has exactly the messages that must arrive.
        private static func script(
            _ transactions: Range<Int>, _ connection: Int, _ number: inout Int, _ people: [String],
            _ threads: [String], _ random: inout SplitMix64
        ) -> String {
            var script = ""
            for _ in transactions {
                script += "begin;\n"
                for _ in 0..<random.below(3) + 1 {
                    number += 1
                    let (id, thread) = (newID(), threads[random.below(threads.count)])
                    script += """
                        insert into shop.sent values ('\(id)', '\(thread)', \(connection), \(number));
                        select from parley.send('\(people[connection % people.count])', '\(thread)',
                            '{"text":"\(connection) \(number)"}', '\(id)');

                        """
                    if random.chance(20) { script += "select pg_sleep(random() * 0.3);\n" }
                }
                script += random.chance(4) ? "rollback;\n" : "commit;\n"
            }
            return script
        }

        @Test("delivers exactly the committed messages, once, in order", .timeLimit(.minutes(Scale.minutesMax)))
        func faults() async throws {
            let count = try #require(Scale.transactionCount, "SQL_TRANSACTIONS is no whole number")
            let cluster = try await TestCluster.own()
            let database = try await cluster.createDatabase()
            let nodes = try await RestartableNodes.start(2, on: database)
            let client = await nodes[0].client
            var people: [Person] = []
            for name in ["Ann", "Bob", "Cid"] { people.append(try await client.register(name)) }
            let reader = people[2]
            var threads: [String] = []
            for _ in 0..<Self.threadCount {
                threads.append(try await client.thread("group", by: people[0], with: Array(people.dropFirst())))
            }
            let cursor = try await client.cursor(of: reader)
            try await cluster.psql(
                """
                create role shop login in role parley_sender;
                create schema shop authorization shop;
                create table shop.sent (id uuid primary key, thread_id uuid, connection int, number int);
                alter table shop.sent owner to shop;
                """, database: database)
            let shop = database.replacing("user='parley'", with: "user='shop'")

            let work = Work(count)
            let seed = Seed.fresh("sending from SQL under faults")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for connection in 0..<Self.connectionCount {
                    group.addTask { [threads, people = people.map(\.id)] in
                        var number = 0
                        var random = SplitMix64(seed: seed &+ UInt64(connection))
                        while let transactions = work.take(Self.sessionCount) {
                            let script = Self.script(transactions, connection, &number, people, threads, &random)
                            // A session that is cut off leaves the rest undone. Its table says what it did.
                            do { try await Psql.run(script, conninfo: shop) } catch {
                                try await Task.sleep(for: .milliseconds(100))
                            }
                        }
                    }
                }
                group.addTask {
                    try await Self.breakThings(nodes, cluster, seed: ~seed, while: { work.doneCount < count })
                }
                try await group.waitForAll()
            }
            try await nodes.waitUntil(ready: true)
            try await check(nodes[1], cluster, database, reader, threads, from: cursor)
            try await nodes.stopAll()
            await cluster.close()
        }

        /// Kills a node, stops a node, crashes PostgreSQL or kills one of its sessions, again and again.
        private static func breakThings(
            _ nodes: RestartableNodes, _ cluster: TestCluster, seed: UInt64, while goesOn: () -> Bool
        ) async throws {
            var round = 0
            var random = SplitMix64(seed: seed)
            while goesOn() || round < 4 {
                try await Task.sleep(for: .milliseconds(300 + random.below(900)))
                let victim = random.below(2)
                switch round % 4 {
                case 0:
                    try await nodes.kill(victim)
                    try await Task.sleep(for: .milliseconds(300))
                    try await nodes.restart(victim)
                case 1:
                    try await cluster.crash(away: .milliseconds(300))
                case 2:
                    await nodes[victim].program.send(SIGSTOP)
                    try await Task.sleep(for: .milliseconds(700))
                    await nodes[victim].program.send(SIGCONT)
                default:
                    _ = try await cluster.killSession()
                }
                round += 1
            }
        }

        private func check(
            _ node: Node, _ cluster: TestCluster, _ database: String, _ reader: Person, _ threads: [String],
            from cursor: String
        ) async throws {
            func sql(_ text: String) async throws -> String { try await cluster.psql(text, database: database) }
            try await eventually("the outbox to be empty", within: .seconds(60), every: .milliseconds(100)) {
                try await sql("select count(*) from outbox") == "0"
            }
            #expect(try await sql("select code, detail from outbox_failures limit 5") == "")
            // By page: the output of psql has at most 64 KiB.
            var committed: [String] = []
            while true {
                let page = try await sql("select id from shop.sent order by id limit 1000 offset \(committed.count)")
                if page.isEmpty { break }
                committed += page.split(separator: "\n").map { String($0) }
            }
            print("sent from SQL under faults: \(committed.count) messages were committed")
            #expect(!committed.isEmpty)
            // The histories have each of them once, and nothing else.
            var found: [String] = []
            for thread in threads {
                let messages = try await node.client.history(of: thread, as: reader).filter { $0["type"] == "message" }
                found += messages.compactMap { $0["id"].string }
            }
            #expect(found.sorted() == committed.sorted())
            // In each thread the messages of a connection have its order.
            let swapped = """
                select count(*) from (
                    select s.number < lag(s.number) over (partition by s.thread_id, s.connection order by m.seq) as is_swapped
                    from shop.sent s join messages m on m.thread_id = s.thread_id and m.id = s.id) x where x.is_swapped
                """
            #expect(try await sql(swapped) == "0")
            // A device gets an event for each, once, in the order of its thread.
            var received: [String] = []
            var seqs: [String: Int] = [:]
            var place = cursor
            while true {
                let page = try await node.client.sync(reader, from: place, limit: 200)
                try #require(page.status == 200, "\(page)")
                for event in page.json["events"].items where event["type"] == "message.created" {
                    let (thread, seq) = (event["thread_id"].string ?? "", event["data"]["seq"].int ?? 0)
                    #expect(seq > seqs[thread] ?? 0)
                    seqs[thread] = seq
                    if event["data"]["type"] == "message" { received.append(event["data"]["id"].string ?? "") }
                }
                guard let next = page.json["cursor"].string, !page.json["events"].items.isEmpty else { break }
                place = next
            }
            #expect(received.sorted() == committed.sorted())
        }
    }
}
