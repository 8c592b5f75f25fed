// A database whose log is kept for seconds, with short partitions, while its nodes assume days.

import Postgres
import Store

package struct ShortLog: Sendable {
    package let conninfo: String

    /// Creates a database on the cluster. Its partitions, usually for an eighth of the log's time, are made for 2 s. Events
    /// older than 3 s are trimmed.
    package static func make(on cluster: TestCluster) async throws -> ShortLog {
        let conninfo = try await MigratedDatabase.make(on: cluster)
        // Nodes call the functions with the number of days only, and find these overloads first.
        try await Psql.run(
            """
            drop table events_1;
            create schema short;
            create function short.log_extend(p_days int) returns table (made int, next_pos bigint) language sql as $$
                select * from public.log_extend(
                    p_days, 600, stamp() + make_interval(hours => 3 * p_days) - interval '2 seconds')
            $$;
            create function short.log_trim_step(p_days int) returns table (statement text, is_last boolean)
            language sql as $$
                select * from public.log_trim_step(p_days, stamp() + make_interval(days => p_days) - interval '3 seconds')
            $$;
            alter database \(TestCluster.databaseName(conninfo)) set search_path = short, public;
            """, conninfo: conninfo)
        return ShortLog(conninfo: conninfo)
    }

    /// Runs the maintenance that a node runs at start and every ten minutes. Returns how many partitions were dropped.
    package func trim() async throws -> Int {
        let settings = PostgresSettings(test: conninfo)
        return try await LogTrimmer(settings, days: 14, logger: .quiet).trim()
    }

    package func sql(_ sql: String) async throws -> String { try await Psql.run(sql, conninfo: conninfo) }
}
