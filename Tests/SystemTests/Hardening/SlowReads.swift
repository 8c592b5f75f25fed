// One account whose reads take seconds each: how much they delay others, and the answers that the account receives.

import Foundation
import Synchronization
import TestSupport
import Testing

extension SystemTests {
    @Suite("Slow reads of one account", .timeLimit(.minutes(1)))
    struct SlowReads {
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
            let database = try await MigratedDatabase.create()
            let node = try await Node.start(database: database)
            // Reading the caller's blocks takes two seconds, as an example of any slow read.
            try await Psql.run(
                """
                set search_path = public;
                alter function block_list rename to block_list_at_once;
                create function block_list(p_user uuid, p_limit int, p_after_rank bigint, p_after_id uuid)
                returns table (item text, rank bigint, id uuid) language plpgsql volatile as $$
                begin
                    perform pg_sleep(2);
                    return query select * from block_list_at_once(p_user, p_limit, p_after_rank, p_after_id);
                end $$;
                """, conninfo: database)
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
    }
}
