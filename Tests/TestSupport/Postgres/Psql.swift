// SQL for the set-up of tests, through psql and not through the code under test.

import EmbeddedPostgres
import Foundation
import Linux
import Postgres

package enum Psql {
    /// The output of psql after a failure.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Runs SQL (30 ms), each statement in its own transaction. Returns the output without headers, with columns separated
    /// by `|`. The SQL may have at most 16 KB.
    @discardableResult
    package static func run(_ sql: String, conninfo: String, account: SystemAccount? = nil) async throws -> String {
        let command = Program(
            executable: try PostgresBinaries.find().psql,
            arguments: ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", conninfo], account: account)
        let (status, output) = try await command.run(input: sql)
        guard status == 0 else { throw Failure(description: output) }
        return output.trimmingCharacters(in: .newlines)
    }

    /// Runs SQL in a database, or in a new one with the service's schema. Returns the lines of the output.
    package static func lines(
        _ sql: String, in database: String? = nil, keepingEmpty: Bool = false
    ) async throws -> [String] {
        let conninfo = if let database { database } else { try await MigratedDatabase.create() }
        return try await run(sql, conninfo: conninfo)
            .split(separator: "\n", omittingEmptySubsequences: !keepingEmpty).map { String($0) }
    }

    /// SQL that makes users with the ids p(1), p(2), …, and the function p.
    package static func users(_ count: Int) -> String {
        """
        create function p(n int) returns uuid language sql immutable as $$
            select ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid $$;
        insert into users (id, username, username_key, name, created_at)
        select p(n), 'u' || n, 'u' || n, 'User ' || n, now() from generate_series(1, \(count)) n;

        """
    }

    /// SQL that has the planner decide as in the service's sessions.
    package static let plannerSettings = SessionSettings.planner.map { "set \($0) = off;" }.joined(separator: " ")

    /// A statement that keeps its transaction and the transaction's locks open until `wake`, for 30 s at most.
    package static let sleep = """
        do $$ begin perform pg_sleep(30); exception when query_canceled then null; end $$;
        """

    private static let sleepers = "pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'"
    private static let blocked = "pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"

    /// Ends `sleep`; its transaction continues.
    package static func wake(in conninfo: String) async throws {
        try await run("select pg_cancel_backend(pid) from \(sleepers)", conninfo: conninfo)
    }

    /// Returns true once a session sleeps in the database; false if none does in time.
    package static func isAsleep(in conninfo: String) async throws -> Bool { try await isAny(of: sleepers, conninfo) }

    /// Returns true once a session waits for another's lock; false if none does in time.
    package static func isBlocked(in conninfo: String) async throws -> Bool { try await isAny(of: blocked, conninfo) }

    /// Ends the sessions that wait for a lock of another session.
    package static func endBlocked(in conninfo: String) async throws {
        try await run("select pg_terminate_backend(pid) from \(blocked)", conninfo: conninfo)
    }

    private static func isAny(of sessions: String, _ conninfo: String) async throws -> Bool {
        let query = "select count(*) from \(sessions)"
        for _ in 0..<500 where try await run(query, conninfo: conninfo) != "0" { return true }
        return false
    }
}
