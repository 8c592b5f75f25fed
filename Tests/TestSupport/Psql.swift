// SQL for the set-up of tests, through psql: no code of ours in between.

import EmbeddedPostgres
import Foundation

package enum Psql {
    /// What psql printed when it failed.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Runs SQL (30 ms), each statement its own transaction; returns what it printed, without headers, columns apart by
    /// `|`. Standard input takes at most 16 KB.
    @discardableResult
    package static func run(_ sql: String, conninfo: String, account: Account? = nil) async throws -> String {
        let command = Command(
            executable: try PostgresBinaries.find().psql,
            arguments: ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", conninfo], account: account)
        let (status, output) = try await command.run(input: sql)
        guard status == 0 else { throw Failure(description: output) }
        return output.trimmingCharacters(in: .newlines)
    }

    /// Returns once a statement sleeps in the database (`pg_sleep`), with its locks held; false if none comes to that.
    package static func isAsleep(in conninfo: String) async throws -> Bool {
        let query =
            "select count(*) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'"
        for _ in 0..<500 where try await run(query, conninfo: conninfo) != "0" { return true }
        return false
    }
}
