// Rule 8 of the log on real servers: a cursor is valid as long as the events before it exist, whatever happened to the
// server. Other clients notice nothing.
import Domain
import Log
import Postgres
import Store
import TestSupport
import Testing

@Suite("The log's epochs", .serialized, .timeLimit(.minutes(2)))
struct LogEpochs {
    @Test("opens one epoch with the first write after a restart of the server, also under simultaneous writes")
    func restart() async throws {
        let cluster = try await TestCluster.own()
        let database = try await MigratedDatabase.make(on: cluster)
        try await withChat(database) { chat in
            let before = try await chat.send(3)
            #expect(try await chat.epochs(cluster) == ["1|1"])
            await cluster.stop()
            try await cluster.start()
            let idle = try await chat.store.now()
            #expect(idle == before)
            // Each on its own connection.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 { group.addTask { try await withChat(database, of: chat) { _ = try await $0.send(2) } } }
                while try await group.next() != nil {}
            }
            let epochs = try await chat.epochs(cluster)
            #expect(epochs.count == 2 && epochs.last?.hasSuffix("|\(before.position.value + 1)") == true, "\(epochs)")
            let after = try await chat.store.now()
            #expect(after.epoch > 1 && after.position.value == before.position.value + 16)
            #expect(try await chat.missed(since: before) == 16)
        }
        await cluster.close()
    }

    @Test("refuses a cursor from a tail that a promoted standby lacks, however far the log has grown since")
    func promotion() async throws {
        let cluster = try await TestCluster.own()
        let database = try await MigratedDatabase.make(on: cluster)
        let standby = try await cluster.standby()
        try await withChat(TestCluster.conninfo(database: database, onOneOf: [cluster, standby])) { chat in
            let early = try await chat.send(5)
            let shared = try await chat.send(5)
            try await cluster.waitUntilShown(by: standby)
            try await standby.stopFollowing()
            let lost = try await chat.send(10)
            let last = try await chat.send(10)
            await cluster.stop(.immediate)
            try await standby.promote()

            // The node has not noticed the loss yet, and the first writes go past the lost positions.
            let first = try await chat.send(30)
            #expect(first.position.value == shared.position.value + 30)
            #expect(try await chat.missed(since: lost) == nil)
            #expect(try await chat.missed(since: last) == nil)
            #expect(try await chat.missed(since: shared) == 30)
            #expect(try await chat.missed(since: early) == 35)
            let row = try await standby.psql(
                "select timeline from log_epochs order by epoch desc limit 1", database: database)
            #expect(row == "2")
        }
        await cluster.close()
        await standby.close()
    }

    /// The same positions are used twice; only the number of the epoch distinguishes them.
    @Test("distinguishes two copies of one backup that continued separately")
    func fork() async throws {
        let cluster = try await TestCluster.own()
        let database = try await MigratedDatabase.make(on: cluster)
        let copies = try await [cluster.copy(), cluster.copy()]
        var ends: [Cursor] = []
        for copy in copies {
            ends.append(try await withChat(copy.conninfo(database: name(database))) { try await $0.send(10) })
        }
        #expect(ends[0].position == ends[1].position)
        for (copy, ends) in [(copies[0], ends), (copies[1], ends.reversed())] {
            try await withChat(copy.conninfo(database: name(database))) { chat in
                _ = try await chat.send(10)
                #expect(try await chat.store.place(of: ends[0]).state == .kept)
                #expect(try await chat.store.place(of: ends[1]).state == .lost)
            }
        }
        for cluster in [cluster] + copies { await cluster.close() }
    }

    @Test("keeps a node's caches and waiting polls through a failover that loses nothing")
    func unnoticed() async throws {
        let cluster = try await TestCluster.own()
        let database = try await MigratedDatabase.make(on: cluster)
        let standby = try await cluster.standby()
        let node = try await LogNode(conninfo: TestCluster.conninfo(database: database, onOneOf: [cluster, standby]))
        try await node.running {
            let people = try await People(2, in: node.store)
            let thread = try await people.group(people.users, in: node.store)
            let reader = Identity(user: people.users[1], session: SessionID.make())
            let start = try await node.store.now()
            async let poll = node.poll(reader, from: start, waitMs: 30_000)
            try await eventually("a poll is parked") { node.hub.counters.parked == 1 && node.hub.head == start }

            try await cluster.waitUntilShown(by: standby)
            await cluster.stop(.immediate)
            try await standby.promote()
            let sent = try await node.writer.append(.text("hi", in: thread, by: people.users[0]))
            #expect(sent.created)
            guard case .events(let events, let upTo, _) = try await poll else {
                return #expect(Bool(false), "not answered with events")
            }
            #expect(events.map(\.position) == [Position(start.position.value + 1)])
            #expect(upTo.epoch > start.epoch)
            #expect(node.tail.metrics.epochs.value == 1 && node.tail.metrics.restarts.value == 0)
            #expect(node.tail.metrics.gaps.value == 0)
            // The mailbox is the same one: the older cursor is answered from memory.
            let known = node.hub.poll(reader, from: start, limit: 10, waitMs: 0, waiter: DeviceWaiter())
            guard case .answer(.events(let again, _, _)) = known else { return #expect(Bool(false), "\(known)") }
            #expect(again.count == 1)
        }
        await cluster.close()
        await standby.close()
    }

    /// Rows that clients have seen are gone, and neither timeline, identifier nor start time reveals it.
    @Test("opens an epoch when the log has become shorter than a node has read")
    func shorter() async throws {
        let database = try await MigratedDatabase.create()
        let cluster = try await TestCluster.shared()
        let node = try await LogNode(conninfo: database)
        try await node.running {
            try await withChat(database) { chat in
                let kept = try await chat.send(5)
                let lost = try await chat.send(5)
                try await eventually("the hub has the lost head") { node.hub.head == lost }
                try await cluster.psql(
                    "delete from events where pos > \(kept.position.value); delete from messages where pos > \(kept.position.value)",
                    database: database)
                try await eventually("the hub restarts") { node.tail.metrics.restarts.value == 1 }
                #expect(node.hub.head.position == kept.position && node.hub.head.epoch > kept.epoch)
                _ = try await chat.send(20)
                #expect(try await chat.missed(since: lost) == nil)
                #expect(try await chat.missed(since: kept) == 20)
                try await eventually("the hub has the new head") {
                    node.hub.head.position.value == kept.position.value + 20
                }
                #expect(node.tail.metrics.gaps.value == 0)
            }
        }
    }

    private func name(_ conninfo: String) -> String {
        conninfo.firstMatch(of: /dbname='([^']+)'/).map { String($0.1) } ?? conninfo
    }
}

/// Two people and a thread on one database, and a client that polls.
struct Chat: Sendable {
    let store: Store
    let people: People
    let thread: ThreadID

    /// Sends messages one after the other and returns the log's head.
    func send(_ count: Int) async throws -> Cursor {
        for number in 0..<count {
            for attempt in 1... {
                do {
                    _ = try await store.append([.text("\(number)", in: thread, by: people.users[0])])
                    break
                } catch {
                    // Messages sent before the server stopped have arrived here.
                    if case .retryable = error, attempt < 100 {} else { throw error.problem }
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
        }
        return try await store.now()
    }

    /// Returns how many messages came after a cursor; nil for an expired cursor.
    func missed(since cursor: Cursor) async throws -> Int? {
        switch try await store.catchUp(people.users[1], from: cursor, limit: 1000, byteCountMax: 1 << 20) {
        case .expired: nil
        case .part(let events, _), .whole(let events, _, _): events.count
        }
    }

    /// `epoch|first_pos`, in order.
    func epochs(_ cluster: TestCluster) async throws -> [String] {
        let rows = try await cluster.psql("select epoch, first_pos from log_epochs order by epoch", database: "test_1")
        return rows.split(separator: "\n").map(String.init)
    }
}

/// Runs `body` with its own client; `other` lends its people and its thread.
func withChat<Value: Sendable>(
    _ conninfo: String, of other: Chat? = nil, _ body: @Sendable (Chat) async throws -> Value
) async throws -> Value {
    let client = PostgresClient(test: conninfo)
    let store = Store(client)
    return try await finally {
        let people = if let other { other.people } else { try await People(2, in: store) }
        let thread = if let other { other.thread } else { try await people.group(people.users, in: store) }
        return try await body(Chat(store: store, people: people, thread: thread))
    } end: {
        await client.shutdown()
    }
}
