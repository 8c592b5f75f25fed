// Two nodes that read from a standby, while the standby lags, dies, or is promoted.

import TestSupport
import Testing

extension SystemTests {
    @Suite("Reading from a replica", .timeLimit(.minutes(6)))
    struct ReplicaReads {
        /// A person who writes through one node and reads through the other, again and again.
        private struct Reader: Sendable {
            let person: Person
            let thread: String
            /// Only for what an export is to have, so that it is never the last message of `thread`.
            let other: String
            let writing: Connection
            let reading: Connection
            let number: Int

            static func make(_ number: Int, _ nodes: TestNodes) async throws -> Reader {
                let (writing, reading) = (Connection(nodes.a.address), Connection(nodes.b.address))
                let person = try await writing.register("Reader")
                let thread = try await writing.thread("group", by: person, with: [])
                let other = try await writing.thread("group", by: person, with: [])
                return Reader(
                    person: person, thread: thread, other: other, writing: writing, reading: reading, number: number)
            }

            /// Writes, and expects to read just that: in the history, in a search, and in the list of members.
            func turn(_ turn: Int) async throws {
                let text = "r\(number)t\(turn)x"
                let id = try await writing.sent(text, in: thread, as: person)
                let history = try await reading.get("/v1/threads/\(thread)/messages?limit=1", as: person)
                #expect(history.status == 200 && history.json["messages"].items.last?["id"].string == id, "\(history)")
                let found = try await reading.get("/v1/search?q=\(text)", as: person)
                #expect(found.json["results"].items.map { $0["message"]["id"].string } == [id], "\(found)")
                let renamed = try await writing.call("PATCH", "/v1/users/me", ["name": .string(text)], as: person)
                #expect(renamed.status == 200, "\(renamed)")
                let members = try await reading.get("/v1/threads/\(thread)/members", as: person)
                #expect(members.json["members"].items.map { $0["user"]["name"].string } == [text], "\(members)")
            }

            func checkExport(_ turn: Int) async throws {
                let text = "e\(number)t\(turn)x"
                _ = try await writing.sent(text, in: other, as: person)
                let export = try await reading.get("/v1/users/me/export", as: person)
                #expect(export.status == 200 && export.text.contains(text), "\(export.status)")
            }
        }

        /// What people do, and the nodes' counts of it.
        private struct Readers: Sendable {
            let nodes: TestNodes
            let readers: [Reader]
            let turns: [Tally]
            let isOver = Flag()

            func run() async throws {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (reader, tally) in zip(readers, turns) {
                        group.addTask {
                            while !isOver.isSet {
                                try await reader.turn(tally.value)
                                tally.add()
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }

            /// Lets each reader take two whole turns, and exports an account.
            func takeTurns() async throws {
                let starts = turns.map(\.value)
                try await eventually("two turns of each reader", within: .seconds(60)) {
                    // One turn may have begun before.
                    zip(turns, starts).allSatisfy { $0.value >= $1 + 3 }
                }
                try await readers[0].checkExport(starts[0])
            }

            func primaryReads(_ reason: String) async throws -> Int {
                try await nodes.b.count(of: "parley_replica_primary_reads_total", "reason=\"\(reason)\"")
            }

            /// Waits until reads use the replica again.
            func waitUntilUsed() async throws {
                let before = try await nodes.b.metric("parley_replica_reads_total") ?? 0
                try await eventually("reads on the replica", within: .seconds(60)) {
                    try await nodes.b.metric("parley_replica_reads_total") ?? 0 > before
                }
            }
        }

        @Test("nobody reads less than what was answered, and no read fails, whatever happens to the replica")
        func neverOlder() async throws {
            let primary = try await TestCluster.own()
            let database = try await MigratedDatabase.make(on: primary)
            let standby = try await primary.standby()
            let name = TestCluster.databaseName(database)
            let nodes = try await TestNodes.own(
                database: database, settings: ["PARLEY_READ_URL": standby.conninfo(database: name)])
            var made: [Reader] = []
            for number in 0..<50 { made.append(try await Reader.make(number, nodes)) }
            let readers = Readers(nodes: nodes, readers: made, turns: made.map { _ in Tally() })
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await readers.run() }
                group.addTask {
                    defer { readers.isOver.set() }
                    try await hurt(standby, readers, database: name)
                }
                try await group.waitForAll()
            }
            try await nodes.stop()
            await standby.close()
            await primary.close()
        }

        /// Does all that to the replica, one thing after the other.
        private func hurt(_ standby: TestCluster, _ readers: Readers, database: String) async throws {
            try await readers.waitUntilUsed()
            try await readers.takeTurns()

            var lagging = try await readers.primaryReads("lagging")
            try await standby.psql("select pg_wal_replay_pause()")
            try await readers.takeTurns()
            #expect(try await readers.primaryReads("lagging") > lagging)
            try await standby.psql("select pg_wal_replay_resume()")
            try await readers.waitUntilUsed()

            lagging = try await readers.primaryReads("lagging")
            try await delayReplay(of: standby, by: "10s")
            try await readers.takeTurns()
            #expect(try await readers.primaryReads("lagging") > lagging)
            try await delayReplay(of: standby, by: "0")
            try await readers.waitUntilUsed()

            let away = try await readers.primaryReads("away")
            await standby.stop(.immediate)
            try await readers.takeTurns()
            #expect(try await readers.primaryReads("away") > away)
            try await standby.start()
            try await readers.waitUntilUsed()
            try await readers.takeTurns()

            try await standby.promote()
            try await Psql.run("update users set name = 'Nobody'", conninfo: standby.conninfo(database: database))
            try await readers.takeTurns()
            #expect(try await readers.primaryReads("not_a_replica") > 0)
        }

        private func delayReplay(of standby: TestCluster, by time: String) async throws {
            try await standby.psql("alter system set recovery_min_apply_delay = '\(time)'")
            try await standby.psql("select pg_reload_conf()")
        }
    }
}
