// The laws of the log on a real database: order, density, idempotency, nothing lost under delayed commits.
import Domain
import Foundation
import Log
import Postgres
import Store
import Synchronization
import TestSupport
import Testing

@Suite("The log's laws", .serialized, .timeLimit(.minutes(2)))
struct LawsOfTheLog {
    @Test("numbers messages densely in each thread under 32 writers on three nodes")
    func denseSeqs() async throws {
        let database = try await MigratedDatabase.create()
        let nodes = try await [LogNode(conninfo: database), LogNode(conninfo: database), LogNode(conninfo: database)]
        let seqs = try await running(nodes) {
            let people = try await People(4, in: nodes[0].store)
            var threads: [ThreadID] = []
            for _ in 0..<3 { threads.append(try await people.group(people.users, in: nodes[0].store)) }
            return try await withThrowingTaskGroup(of: [(ThreadID, Int64)].self) { [threads] group in
                for writer in 0..<32 {
                    group.addTask {
                        var seqs: [(ThreadID, Int64)] = []
                        for index in 0..<25 {
                            let thread = threads[(writer + index) % threads.count]
                            let answer = try await nodes[writer % 3].writer.append(
                                .text("\(writer)/\(index)", in: thread, by: people.users[writer % 4]))
                            seqs.append((thread, try seq(answer.message)))
                        }
                        return seqs
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
        }
        for (_, numbers) in Dictionary(grouping: seqs, by: \.0) {
            #expect(numbers.map(\.1).sorted() == Array(1...Int64(numbers.count)))
        }
        #expect(seqs.count == 800)
        #expect(nodes.map(\.writer.messageMetrics.sizes.values).contains { $0.sum > $0.count }, "no batch formed")
        #expect(
            nodes.contains { $0.tail.metrics.events[.turn] > 0 }, "none read what the others wrote with its turn")
        // Positions are dense, too, and in the order of the history.
        let gaps = try await TestCluster.shared().psql(
            """
            select count(*) from (select pos, lag(pos) over (order by pos) as previous from events) e
            where pos <> previous + 1
            """, database: database)
        #expect(gaps.trimmingCharacters(in: .whitespacesAndNewlines) == "0")
        let disorder = try await TestCluster.shared().psql(
            """
            select count(*) from (select seq, lag(seq) over (partition by thread_id order by pos) as previous from messages) m
            where seq <> previous + 1
            """, database: database)
        #expect(disorder.trimmingCharacters(in: .whitespacesAndNewlines) == "0")
    }

    @Test("stores one message for an id that two nodes get at once, many times")
    func idempotent() async throws {
        let database = try await MigratedDatabase.create()
        let nodes = try await [LogNode(conninfo: database), LogNode(conninfo: database)]
        let answers = try await running(nodes) {
            let people = try await People(2, in: nodes[0].store)
            let thread = try await people.group(people.users, in: nodes[0].store)
            let id = MessageID.make()
            return try await withThrowingTaskGroup(of: (Bool, Int64).self) { group in
                for attempt in 0..<40 {
                    group.addTask {
                        let answer = try await nodes[attempt % 2].writer.append(
                            .text("once", in: thread, by: people.users[0], id: id))
                        return (answer.created, try seq(answer.message))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(answers.filter(\.0).count == 1)
        #expect(Set(answers.map(\.1)) == [1])
        #expect(answers.count == 40)
    }

    @Test("refuses one item of a batch without failing its neighbours")
    func outcomes() async throws {
        let database = try await MigratedDatabase.create()
        let node = try await LogNode(conninfo: database)
        try await running([node]) {
            let people = try await People(3, in: node.store)
            let thread = try await people.group(Array(people.users[0...1]), in: node.store)
            let id = MessageID.make()
            let outcomes = try await node.store.append([
                .text("a", in: thread, by: people.users[0], id: id),
                .text("b", in: thread, by: people.users[2]),
                .text("a", in: thread, by: people.users[0], id: id),
                .text("c", in: ThreadID.make(), by: people.users[0]),
                .text("other", in: thread, by: people.users[0], id: id),
                .text("a", in: thread, by: people.users[1], id: id),
                .text("d", in: thread, by: people.users[1]),
            ])
            #expect(
                outcomes.map(\.word) == [
                    "created", "thread_not_found", "exists", "thread_not_found", "id_taken", "id_taken", "created",
                ])
        }
    }

    /// Otherwise an outsider who knows a message's id could block its sender by using the id first.
    @Test("judges an item again when an earlier item with its id was refused")
    func repeatedRefusals() async throws {
        let node = try await LogNode(conninfo: MigratedDatabase.create())
        try await running([node]) {
            let people = try await People(3, in: node.store)
            let thread = try await people.group(Array(people.users[0...1]), in: node.store)
            let id = MessageID.make()
            var stray = NewMessage.text("a", in: thread, by: people.users[0], id: .make())
            stray.replyTo = .make()
            let outcomes = try await node.store.append([
                .text("a", in: thread, by: people.users[2], id: id), stray, stray,
                .text("a", in: thread, by: people.users[0], id: id),
                .text("a", in: thread, by: people.users[0], id: id),
                .text("b", in: thread, by: people.users[1]),
            ])
            #expect(outcomes.map(\.word) == ["thread_not_found", "invalid", "invalid", "created", "exists", "created"])
        }
    }

    @Test("delivers the node's own writes from the call's answer, without a notification")
    func ownWrites() async throws {
        let node = try await LogNode(conninfo: MigratedDatabase.create(), channel: "nothing_comes_here")
        try await running([node]) {
            let people = try await People(2, in: node.store)
            let thread = try await people.group(people.users, in: node.store)
            try await node.tail.catchUp()
            let device = Identity(user: people.users[1], session: SessionID.make())
            var cursor = node.hub.head
            for number in 1...20 {
                let seen = cursor
                async let poll = node.poll(device, from: seen, waitMs: 5000)
                _ = try await node.writer.append(.text("\(number)", in: thread, by: people.users[0]))
                guard case .events(let events, let upTo, _) = try await poll else { throw CancellationError() }
                #expect(events.count == 1)
                cursor = upTo
            }
            // All but what a safety read may have found first.
            #expect(node.tail.metrics.events[.own] - node.tail.metrics.reads[.own] >= 15)
            #expect(node.tail.metrics.reads[.notify] == 0)
        }
    }

    /// Rule 1. Every transaction is delayed at random: before it takes its positions, after that, and before its
    /// commit.
    @Test("loses no event when commits are delayed at random inside the transaction")
    func delayedCommits() async throws {
        let lost = try await lostEvents(
            begin: """
                create or replace function log_enter(out head bigint, out epoch int) language plpgsql volatile as $$
                begin
                    perform pg_sleep(random() * 0.02);
                    lock table log_lock in share update exclusive mode;
                    head := log_head() + 0 * length(pg_sleep(random() * 0.004)::text);
                    epoch := log_epoch();
                end $$
                """)
        #expect(lost == 0)
    }

    /// The same test with positions from a plain sequence, to show that it detects loss.
    @Test("loses events with a plain sequence instead of the log's lock, so the test can detect loss")
    func plainSequence() async throws {
        let lost = try await lostEvents(
            begin: """
                create sequence plain start 10;
                grant usage on sequence plain to public;
                create or replace function log_enter(out head bigint, out epoch int) language plpgsql volatile as $$
                begin
                    head := nextval('plain') * 100 + 0 * length(pg_sleep(random() * 0.02)::text);
                    epoch := log_epoch();
                end $$
                """)
        #expect(lost > 0)
    }

    /// How many acknowledged messages two devices did not get, or got twice or out of order.
    private func lostEvents(begin: String) async throws -> Int {
        let database = try await MigratedDatabase.create()
        let cluster = try await TestCluster.shared()
        let nodes = try await [LogNode(conninfo: database), LogNode(conninfo: database), LogNode(conninfo: database)]
        return try await running(nodes) {
            let people = try await People(3, in: nodes[0].store)
            var threads: [ThreadID] = []
            for _ in 0..<8 { threads.append(try await people.group(people.users, in: nodes[0].store)) }
            _ = try await cluster.psql(
                """
                \(begin);
                create or replace function log_announce(p_pos bigint, p_node text default '') returns void
                language plpgsql as $$
                begin
                    perform pg_sleep(random() * 0.02);
                    perform pg_notify(c.log, p_pos || ' ' || p_node) from node_channels c;
                end $$
                """, database: database)
            let start = try await nodes[0].store.now()
            let total = 24 * 8
            let done = Done()
            async let first = collect(
                people.users[0], start, total, nodes: [nodes[1]], done: { done.value.withLock { $0 } })
            async let second = collect(
                people.users[1], start, total, nodes: nodes, done: { done.value.withLock { $0 } })
            try await withThrowingTaskGroup(of: Void.self) { [threads] group in
                for writer in 0..<24 {
                    group.addTask {
                        for index in 0..<8 {
                            let node = nodes[writer % 3]
                            let message = NewMessage.text(
                                "\(writer)/\(index)", in: threads[writer % 8], by: people.users[writer % 3])
                            // Some through a node, which delivers them from the answer; others directly.
                            if index.isMultiple(of: 2) {
                                _ = try await node.writer.append(message)
                            } else {
                                _ = try await node.store.append([message])
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            done.value.withLock { $0 = true }
            let seen = try await [first, second]
            return seen.map { total - Set($0).count + ($0.count - Set($0).count) + disorder($0) }.reduce(0, +)
        }
    }

    /// A device that polls, from node to node, until it has `total` messages, or nothing has come for a second after
    /// the writers have ended.
    private func collect(
        _ user: UserID, _ start: Cursor, _ total: Int, nodes: [LogNode], done: @escaping @Sendable () -> Bool
    ) async throws -> [String] {
        let identity = Identity(user: user, session: SessionID.make())
        var cursor = start
        var seen: [String] = []
        var turn = 0
        while seen.count < total {
            let wasDone = done()
            let answer = try await nodes[turn % nodes.count].poll(identity, from: cursor, limit: 7, waitMs: 1500)
            guard case .events(let events, let upTo, _) = answer else { break }
            seen += events.map { String(decoding: $0.body, as: UTF8.self) }.filter { $0.contains("message.created") }
            cursor = upTo
            turn += 1
            if wasDone && events.isEmpty { break }
        }
        return seen
    }

    /// Neighbours of one thread that came in the wrong order.
    private func disorder(_ bodies: [String]) -> Int {
        var last: [Substring: Int64] = [:]
        var count = 0
        for body in bodies {
            guard let thread = body.firstMatch(of: /"thread_id":"([^"]+)"/)?.1,
                let seq = body.firstMatch(of: /"seq":(\d+)/).flatMap({ Int64($0.1) })
            else { continue }
            if seq != last[thread, default: 0] + 1 { count += 1 }
            last[thread] = seq
        }
        return count
    }
}

private final class Done: Sendable { let value = Mutex(false) }

private func seq(_ message: JSONText) throws -> Int64 {
    let text = String(decoding: message.utf8, as: UTF8.self)
    return try #require(text.firstMatch(of: /"seq":(\d+)/).flatMap { Int64($0.1) })
}

/// Runs all nodes while `body` does.
func running<Value: Sendable>(
    _ nodes: [LogNode], _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    guard let node = nodes.first else { return try await body() }
    return try await node.running { try await running(Array(nodes.dropFirst()), body) }
}
