// One account whose reads take seconds each: how much they delay others, and the answers that the account receives.

import Foundation
import Synchronization
import TestSupport
import Testing

extension SystemTests {
    @Suite("Slow reads of one account", .timeLimit(.minutes(1)))
    struct SlowReads {
        /// SQL that waits until the test runs `update public.gate set is_open = true`.
        private static let untilOpen = "while not (select g.is_open from gate g) loop perform pg_sleep(0.02); end loop;"

        /// A node on which reading the caller's blocks first runs this SQL, as an example of any slow read.
        private static func node(
            blocksWait wait: String, settings: [String: String] = [:]
        ) async throws -> (node: Node, database: String) {
            let database = try await MigratedDatabase.create()
            let node = try await Node.start(database: database, settings: settings)
            try await Psql.run(
                """
                set search_path = public;
                create table gate as select false as is_open;
                grant select on gate to public;
                alter function block_list rename to block_list_at_once;
                create function block_list(p_user uuid, p_limit int, p_after_rank bigint, p_after_id uuid)
                returns table (item text, rank bigint, id uuid) language plpgsql volatile as $$
                begin
                    \(wait)
                    return query select * from block_list_at_once(p_user, p_limit, p_after_rank, p_after_id);
                end $$;
                """, conninfo: database)
            return (node, database)
        }

        private static let slowPath = "/v1/users/me/blocks"

        /// The longest time of a bystander's calls, and the statuses of the answers.
        private final class Bystander: Sendable {
            private let state = Mutex((slowest: Duration.zero, statuses: Set<Int>()))
            var slowest: Duration { state.withLock { $0.slowest } }
            var statuses: Set<Int> { state.withLock { $0.statuses } }

            func time(_ call: () async throws -> Answer) async throws {
                let began = ContinuousClock.now
                let status = try await call().status
                state.withLock {
                    $0.slowest = max($0.slowest, began.duration(to: .now))
                    $0.statuses.insert(status)
                }
            }
        }

        @Test("do not delay others' sends, sign-ins and reads, and are answered or refused with Retry-After")
        func others() async throws {
            let (node, _) = try await Self.node(blocksWait: "perform pg_sleep(2);")
            let others = try await OtherUsers.join(node)
            let attacker = try await node.client.register("Mallory")
            let bystander = try await node.client.register("Cleo")
            let (seen, answers) = (Bystander(), Bystander())
            let notice = try await others.notice(connectionCount: 30) { connection, lane in
                guard lane == 0 else {
                    return try await answers.time { try await connection.get(Self.slowPath, as: attacker) }
                }
                let credentials: JSON = [
                    "username": .string(bystander.username), "password": .string(bystander.password),
                ]
                try await seen.time { try await connection.post("/v1/auth/login", credentials) }
                try await seen.time { try await connection.get("/v1/inbox", as: bystander) }
                try await Task.sleep(for: .milliseconds(50))
            }
            notice.expect("slow reads of one account", ratioMax: 8)
            #expect(seen.statuses == [200] && seen.slowest < .seconds(2), "\(seen.statuses) \(seen.slowest)")
            // Four reads run for two seconds each, and the others wait at most a second for a free slot.
            #expect(answers.statuses == [200, 429] && answers.slowest < .seconds(6), "\(answers.slowest)")
            try await node.stop()
        }

        @Test("are refused with 429 and Retry-After, even with rate limits off")
        func refusal() async throws {
            let (node, database) = try await Self.node(
                blocksWait: Self.untilOpen,
                settings: ["PARLEY_ACCOUNT_READS_MAX": "1", "PARLEY_READ_TIMEOUT_MS": "15000"])
            let ann = try await node.client.register("Ann")
            async let first = Connection(node.address).get(Self.slowPath, as: ann)
            let running = "select count(*) from pg_stat_activity where query like '%block_list%' and state = 'active'"
            try await eventually("the first read to run") {
                try await Psql.run(running + " and pid <> pg_backend_pid()", conninfo: database) == "1"
            }
            // A request for the log's current position is a read, too.
            for path in ["/v1/inbox", "/v1/sync"] {
                let answer = try await Connection(node.address).get(path, as: ann)
                #expect(answer.status == 429 && answer.code == "rate_limited", "\(answer)")
                #expect(answer.headers["retry-after"] == "1" && answer.headers["ratelimit"] == nil, "\(answer)")
            }
            try await Psql.run("update public.gate set is_open = true", conninfo: database)
            #expect(try await first.status == 200)
            #expect(try await node.metric("parley_account_reads_refused_total") == 2)
            #expect(try await Connection(node.address).get("/v1/inbox", as: ann).status == 200)
            try await node.stop()
        }

        @Test("that exceed their time end with 503 and Retry-After, and are counted")
        func timeout() async throws {
            let (node, _) = try await Self.node(blocksWait: Self.untilOpen, settings: ["PARLEY_READ_TIMEOUT_MS": "500"])
            let ann = try await node.client.register("Ann")
            // The read itself would never end.
            let answer = try await Connection(node.address).get(Self.slowPath, as: ann)
            #expect(answer.status == 503 && answer.code == "overloaded", "\(answer)")
            #expect(answer.headers["retry-after"].flatMap { Int($0) } ?? 0 >= 5, "\(answer)")
            // The node did not retry the read: each attempt is counted, and all would precede the answer.
            let metrics = try await Connection(node.address).get("/metrics").text
            #expect(metrics.contains("parley_database_errors_total{pool=\"reads\",kind=\"timeout\"} 1\n"))
            try await node.stop()
        }
    }
}
