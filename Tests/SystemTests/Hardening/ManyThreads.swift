// An account with as many threads as allowed, and a thread with as many invited people. Changes that concern all of
// them are written in batches between which others write, and a read from an old cursor does not read all of them.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("An account with thousands of threads", .timeLimit(.minutes(5)))
    struct ManyThreads {
        private static let threadCount = 5_000

        /// Gives `person` groups with one other member each, all of them new, and `eventCount` events in each group.
        private static func fill(_ person: Person, eventCount: Int, in database: String) async throws {
            try await Psql.run(
                """
                create temp table made as select n, gen_random_uuid() as thread_id, gen_random_uuid() as user_id
                from generate_series(1, \(threadCount)) n;
                insert into users (id, name, created_at) select m.user_id, 'Member ' || m.n, now() from made m;
                insert into threads (id, kind, title, created_at, member_count)
                select m.thread_id, 'group', 'G ' || m.n, now(), 2 from made m;
                insert into members (thread_id, user_id, role, status, joined_at)
                select m.thread_id, u.id, 'member', 'joined', now() from made m cross join lateral (
                    values (m.user_id), ('\(person.id)'::uuid)) u (id);
                select log_extend(14, 100000);
                begin;
                create temp table head as select log_begin() as pos;
                insert into membership_spans (user_id, thread_id, from_pos)
                select u.id, m.thread_id, (select h.pos from head h) + 1 from made m cross join lateral (
                    values (m.user_id), ('\(person.id)'::uuid)) u (id);
                insert into events (pos, at, type, thread_id, body)
                select (select h.pos from head h) + row_number() over (order by e.n, m.n), now(), 'thread.updated', m.thread_id,
                    event_json('thread.updated', m.thread_id, now(), '{}')
                from made m cross join generate_series(1, \(eventCount)) e (n);
                commit;
                analyze;
                """, conninfo: database)
        }

        /// Counts the events that contain `name`, and their different recipients.
        private static func told(_ name: String, in database: String) async throws -> String {
            try await Psql.run(
                """
                select count(*), count(distinct (thread_id, user_id)) from events
                where type in ('user.updated', 'thread.updated') and thread_id is not null and body like '%"\(name)"%'
                """, conninfo: database)
        }

        @Test("renames itself without delaying others, and every reader receives the last name once")
        func renames() async throws {
            let database = try await TestCluster.shared().createDatabase()
            let node = try await Node.start(database: database, settings: ["PARLEY_RATE_LIMITS": "on"])
            let others = try await OtherUsers.join(node)
            let eve = try await node.client.register("Eve")
            try await Self.fill(eve, eventCount: 0, in: database)
            let notice = try await others.notice(connectionCount: 2) { connection, lane in
                let name = JSON.string(unique("Eve \(lane) "))
                _ = try await connection.call("PATCH", "/v1/users/me", ["name": name], as: eve)
            }
            notice.expect("profile changes of an account with \(Self.threadCount) threads", ratioMax: 12)
            // The attack has used up the bucket.
            let last = try await node.client.get("/v1/users/me", as: eve).json["name"].string ?? ""
            try await eventually("all to have been told", within: .seconds(30)) {
                try await Self.told(last, in: database) == "\(Self.threadCount)|\(Self.threadCount)"
            }
            let left = try await Psql.run(
                "select (select count(*) from announcements), (select count(*) from users where id = '\(eve.id)' and name = '\(last)')",
                conninfo: database)
            #expect(left == "0|1")
            try await node.stop()
        }

        @Test("has its rename finished by another node when the first is killed")
        func killed() async throws {
            let nodes = try await TestNodes.own(on: try await TestCluster.shared())
            let eve = try await nodes.a.client.register("Eve")
            try await Self.fill(eve, eventCount: 0, in: nodes.database)
            let name = unique("Eve ")
            let renamed = try await nodes.a.client.call("PATCH", "/v1/users/me", ["name": .string(name)], as: eve)
            #expect(renamed.status == 200)
            try await nodes.a.kill()
            try await eventually("all to have been told", within: .seconds(30)) {
                try await Self.told(name, in: nodes.database) == "\(Self.threadCount)|\(Self.threadCount)"
            }
            try await nodes.b.stop()
        }

        @Test("reads from an old cursor without delaying others")
        func readsOld() async throws {
            let database = try await TestCluster.shared().createDatabase()
            let node = try await Node.start(database: database)
            let others = try await OtherUsers.join(node)
            let eve = try await node.client.register("Eve")
            let cursor = try await node.client.cursor(of: eve)
            try await Self.fill(eve, eventCount: 4, in: database)
            let page = try await node.client.sync(eve, from: cursor)
            #expect(page.status == 200 && page.json["events"].items.count == 100 && page.json["more"].bool == true)
            let notice = try await others.notice(connectionCount: 8) { connection, _ in
                _ = try await connection.sync(eve, from: cursor)
            }
            notice.expect("syncing from an old cursor with \(Self.threadCount) threads", ratioMax: 25)
            // Eight clients send more requests when answers are faster, so the cost of one read is bounded, too.
            var times: [Double] = []
            let connection = Connection(node.address)
            for _ in 0..<9 {
                let began = ContinuousClock.now
                #expect(try await connection.sync(eve, from: cursor).status == 200)
                times.append(began.duration(to: .now).seconds * 1_000)
            }
            let median = times.sorted()[times.count / 2]
            print("a read from an old cursor: \(median) ms, a send: \(notice.idle.p50) ms")
            #expect(median <= 20 * max(1, notice.idle.p50), "\(times)")
            try await node.stop()
        }

        @Test("a new title reaches a thousand invited people in batches, each of them once")
        func invited() async throws {
            let database = try await TestCluster.shared().createDatabase()
            let node = try await Node.start(database: database)
            let ann = try await node.client.register("Ann")
            let group = try await node.client.thread("group", by: ann, with: [])
            try await Psql.run(
                """
                with made as (
                    insert into users (id, name, created_at)
                    select gen_random_uuid(), 'n', now() from generate_series(1, 999) returning id
                )
                insert into members (thread_id, user_id, role, status, invited_at, invited_by)
                select '\(group)', m.id, 'member', 'invited', now(), '\(ann.id)' from made m
                """, conninfo: database)
            // Two changes at once: people who did not get the first event yet get only the second.
            let titles = [unique("First "), unique("Second ")]
            for title in titles {
                let answer = try await node.client.call(
                    "PATCH", "/v1/threads/\(group)", ["title": .string(title)], as: ann)
                #expect(answer.status == 200)
            }
            try await eventually("all to have been told", within: .seconds(30)) {
                // One event notifies all members.
                try await Self.told(titles[1], in: database) == "1000|1000"
            }
            try await node.stop()
        }
    }
}
