// A database whose log is kept for seconds, with partitions to match, while its nodes assume days.

import Logging
import Postgres
import Store

package struct ShortLog: Sendable {
    package let conninfo: String

    /// A new database on the cluster. An eighth of the time that the log is kept, which its partitions are made for, is
    /// there 2 s long; and what is older than 3 s is trimmed.
    package static func make(on cluster: TestCluster) async throws -> ShortLog {
        let conninfo = try await MigratedDatabase.make(on: cluster)
        // Nodes call them with the days alone, and find these first.
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

    /// What a node does when it starts, and every ten minutes; gives how many partitions were dropped.
    package func trim() async throws -> Int {
        let settings = PostgresSettings(conninfo: conninfo, applicationName: "parley-test")
        let logger = Logger(label: "trimmer") { _ in SwiftLogNoOpLogHandler() }
        return try await LogTrimmer(settings, days: 14, logger: logger).trim()
    }

    package func sql(_ sql: String) async throws -> String { try await Psql.run(sql, conninfo: conninfo) }
}
