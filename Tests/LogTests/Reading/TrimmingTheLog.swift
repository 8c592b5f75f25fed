// Rule 10 of the log on a real database: old partitions are dropped without delays, and late clients have to reload.
import Domain
import Log
import Postgres
import Store
import Synchronization
import TestSupport
import Testing

@Suite("Trimming the log", .serialized, .timeLimit(.minutes(2)))
struct TrimmingTheLog {
    @Test("drops whole partitions that are older than the log is kept, and keeps the others")
    func trims() async throws {
        try await withTinyPartitions { chat, log in
            // Position 1 made the thread.
            let end = try await chat.send(44)
            #expect(end.position.value == 45)
            try await log.age(upTo: 39)
            #expect(try await log.trim() == 3)
            #expect(try await log.partitions().prefix(2) == ["events_31", "events_41"])
            #expect(try await log.trim() == 0)

            #expect(try await chat.store.place(of: Cursor(epoch: end.epoch, position: Position(29))).state == .trimmed)
            #expect(try await chat.missed(since: Cursor(epoch: end.epoch, position: Position(29))) == nil)
            #expect(try await chat.missed(since: Cursor(epoch: end.epoch, position: Position(30))) == 15)
            #expect(try await chat.send(1).position.value == 46)
            // The thread's history keeps the messages.
            #expect(try await log.sql("select count(*), count(distinct seq) from messages") == "45|45")
        }
    }

    @Test("keeps the partition with the log's head, however old it is")
    func keepsTheLast() async throws {
        try await withTinyPartitions { chat, log in
            #expect(try await chat.send(19).position.value == 20)
            try await log.age(upTo: 20)
            #expect(try await log.trim() == 1)
            #expect(try await log.partitions().first == "events_11")
            #expect(try await chat.send(1).position.value == 21)
            #expect(try await log.trim() == 1)
        }
    }

    @Test("continues after an interruption at any step")
    func interrupted() async throws {
        try await withTinyPartitions { chat, log in
            _ = try await chat.send(50)
            try await log.age(upTo: 45)
            // The step is recorded, and not done.
            let step = try await log.sql("select statement from log_trim_step(14)")
            #expect(step == "alter table events detach partition events_1 concurrently")
            #expect(try await log.trim() == 4)

            try await log.age(upTo: 51)
            _ = try await chat.send(10)
            // Detached, not dropped.
            try await log.run(try await log.sql("select statement from log_trim_step(14)"))
            #expect(try await log.trim() == 1)
            #expect(try await log.sql("select count(*) from log_trims where dropped_at is null") == "0")
            #expect(try await log.sql("select to_regclass('events_41') is null") == "t")
        }
    }

    @Test("waits for a long reader without blocking others, and continues when the reader has ended")
    func longReader() async throws {
        try await withTinyPartitions { chat, log in
            let end = try await chat.send(24)
            try await log.age(upTo: 15)
            try await log.whileReading {
                // The step fails after its lock timeout, and the next call retries.
                await #expect(throws: Problem.self) { try await log.trim() }
                await #expect(throws: Problem.self) { try await log.trim() }
                // The reader ends after these: what waited for it would never return.
                _ = try await chat.send(20)
                #expect(try await chat.missed(since: end) == 20)
                _ = try await chat.store.extendLog(days: 14)
            }
            #expect(try await log.trim() == 1)
            #expect(try await log.partitions().first == "events_11")
        }
    }

    @Test("is done by one session at a time")
    func together() async throws {
        try await withTinyPartitions { chat, log in
            _ = try await chat.send(50)
            try await log.age(upTo: 45)
            let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 { group.addTask { try await log.trim() } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts.reduce(0, +) == 4, "\(counts)")
        }
    }

    @Test("names to a client that returns too late the threads that have changed, and no others")
    func changedThreads() async throws {
        try await withTinyPartitions { chat, log in
            let users = chat.people.users
            let quiet = try await chat.people.group(users, in: chat.store)
            let left = try await chat.people.group(users, in: chat.store)
            let deleted = try await chat.people.group(users, in: chat.store)
            let id = MessageID.make()
            _ = try await chat.store.append([
                .text("still there", in: quiet, by: users[0]), .text("soon gone", in: deleted, by: users[0], id: id),
            ])
            let cursor = try await chat.store.now()
            // The events of these threads are trimmed with the first partitions; the quiet one has none.
            try await chat.store.deleteMessage(id, in: deleted, by: users[0])
            try await chat.store.deleteMember(users[1], in: left, by: users[0])
            _ = try await chat.send(30)
            try await log.age(upTo: 29)
            #expect(try await log.trim() == 2)

            guard case .expired = try await chat.store.catchUp(users[1], from: cursor, limit: 9, byteCountMax: 999)
            else { return #expect(Bool(false), "not expired") }
            let fresh = try await chat.store.restart(users[1], from: cursor)
            #expect(try heads(fresh.threads) == [chat.thread: 30, deleted: 1, left: 0])
            #expect(try await chat.missed(since: fresh.cursor) == 0)
            // A cursor from a lost tail: the events in it are unknown, so all threads are returned.
            let lost = Cursor(epoch: cursor.epoch, position: Position(1000))
            let all = try heads(try await chat.store.restart(users[1], from: lost).threads)
            #expect(all == [chat.thread: 30, deleted: 1, quiet: 1])
        }
    }

    @Test("lets a message be deleted completely after its event was trimmed")
    func deletesLater() async throws {
        try await withTinyPartitions { chat, log in
            let id = MessageID.make()
            let users = chat.people.users
            _ = try await chat.store.append([.text("old", in: chat.thread, by: users[0], id: id)])
            let end = try await chat.send(20)
            try await log.age(upTo: 20)
            #expect(try await log.trim() == 2)
            try await chat.store.deleteMessage(id, in: chat.thread, by: users[0])
            #expect(try await chat.missed(since: end) == 1)
            #expect(try await log.sql("select payload is null from messages where seq = 1") == "t")
        }
    }

    @Test("makes a node restart its log after a longer absence")
    func nodeAway() async throws {
        try await withTinyPartitions { chat, log in
            let node = try await LogNode(conninfo: log.conninfo)
            let reader = Identity(user: chat.people.users[1], session: SessionID.make())
            let start = node.hub.head
            // The state that the node finds.
            _ = try await chat.send(30)
            try await log.age(upTo: 29)
            #expect(try await log.trim() == 2)
            try await node.running {
                // Counted right after the hub has restarted.
                try await eventually("the hub restarts") {
                    node.hub.head.position.value == start.position.value + 30 && node.tail.metrics.restarts.value == 1
                }
                #expect(node.tail.metrics.gaps.value == 0)
                await #expect(throws: Problem.self) { try await node.poll(reader, from: start, waitMs: 0) }
                _ = try await chat.send(1)
                guard case .events(let events, _, _) = try await node.poll(reader, from: node.hub.head, waitMs: 5000)
                else { return #expect(Bool(false)) }
                #expect(events.count <= 1)
            }
        }
    }

    @Test("sizes partitions by the events of an eighth of the time, and at least by the minimum")
    func sizes() async throws {
        try await withTinyPartitions { chat, log in
            let base = try await log.partitions().count
            func extend(at later: String) async throws -> String {
                try await log.sql("select made from log_extend(14, 1000, now() + interval '\(later)')")
            }
            #expect(try await extend(at: "0") == "0")
            _ = try await chat.send(30)
            #expect(
                try await log.sql("select log_pos_at(now() - interval '1 hour'), log_pos_at(now() + interval '1 hour')")
                    == "1|32")
            #expect(try await log.sql("select made, next_pos <= log_head() from log_extend(14, 200000)") == "1|f")
            #expect(try await log.partitions().count == base + 1)
            // The next look-up of the head begins in the head's own partition.
            #expect(try await log.sql("select floor_pos from log_epochs order by epoch desc limit 1") == "31")
        }
    }

    private func heads(_ threads: JSONText) throws -> [ThreadID: Int] {
        let text = String(decoding: threads.utf8, as: UTF8.self)
        var heads: [ThreadID: Int] = [:]
        for match in text.matches(of: /"id" : "([^"]+)", "head" : (\d+)/) {
            heads[try #require(ThreadID(parsing: match.1))] = Int(match.2)
        }
        return heads
    }
}

/// The log of one database, as maintenance sees it.
private struct TinyLog: Sendable {
    let conninfo: String

    func trim() async throws -> Int {
        var settings = PostgresSettings(test: conninfo)
        settings.lockTimeout = .milliseconds(200)
        return try await LogTrimmer(settings, days: 14, logger: .quiet).trim()
    }

    func sql(_ sql: String) async throws -> String { try await Psql.run(sql, conninfo: conninfo) }
    func run(_ sql: String) async throws { try await Psql.run(sql, conninfo: conninfo) }

    /// Makes the events up to a position a month old.
    func age(upTo position: Int) async throws {
        try await run("update events set at = now() - interval '30 days' where pos <= \(position)")
    }

    func partitions() async throws -> [String] {
        try await sql("select name from log_partitions() order by first_pos").split(separator: "\n").map(String.init)
    }

    /// Holds an old snapshot that has read the log, as pg_dump does, while `body` runs.
    func whileReading(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let settings = PostgresSettings(test: conninfo)
        let reader = Reader()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await DedicatedSession.run(settings, answerMax: .seconds(10), logger: .quiet) { session in
                    try session.run("begin isolation level repeatable read")
                    _ = try session.query("select count(*) from events")
                    reader.isReading.store(true, ordering: .relaxed)
                    // On the session's own thread.
                    while !reader.isDone.load(ordering: .relaxed) {
                        _ = try session.query("select pg_sleep(0.02)::text")
                    }
                    try session.run("rollback")
                }
            }
            try await eventually("the reader reads") { reader.isReading.load(ordering: .relaxed) }
            defer { reader.isDone.store(true, ordering: .relaxed) }
            try await body()
        }
    }
}

private final class Reader: Sendable {
    let isReading = Atomic(false)
    let isDone = Atomic(false)
}

/// A chat on a separate database whose log has 20 partitions for ten events each, and then the usual ones.
private func withTinyPartitions(_ body: @Sendable (Chat, TinyLog) async throws -> Void) async throws {
    let cluster = try await TestCluster.shared()
    let database = try await MigratedDatabase.make(on: cluster, partitionCount: 20)
    try await withChat(database) { try await body($0, TinyLog(conninfo: database)) }
}
