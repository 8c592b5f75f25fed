// How often nodes ran which statement, as PostgreSQL counts it.

import Basics
import Foundation
import TestSupport

/// A cluster that counts statements, and a database on it.
struct CountingDatabase: Sendable {
    /// Calls of one function, and the rows they returned.
    struct Count: Sendable, Equatable {
        var calls = 0
        var rows = 0
    }

    let cluster: TestCluster
    /// A libpq connection string.
    let conninfo: String

    /// Shared by all tests, which never stop it.
    private static let started = Task {
        try await TestCluster.own(settings: ["shared_preload_libraries": "pg_stat_statements"])
    }

    static func create() async throws -> CountingDatabase {
        let cluster = try await started.value
        let conninfo = try await cluster.createDatabase()
        try await cluster.psql("create extension pg_stat_statements", database: conninfo)
        return CountingDatabase(cluster: cluster, conninfo: conninfo)
    }

    @discardableResult
    func sql(_ text: String) async throws -> String { try await cluster.psql(text, database: conninfo) }

    /// The calls since the last `reset`, by the function's name. A statement that calls no function is listed by its
    /// own text.
    func counts() async throws -> [String: Count] {
        let output = try await sql(
            """
            select coalesce(substring(s.query from '^select (?:.* from )?([a-z_]+)\\('), s.query), sum(s.calls), sum(s.rows)
            from pg_stat_statements s
            join pg_database d on d.oid = s.dbid and d.datname = current_database()
            join pg_roles r on r.oid = s.userid and r.rolname <> current_user
            group by 1
            """)
        var counts: [String: Count] = [:]
        for line in output.split(separator: "\n") {
            let fields = line.split(separator: "|")
            guard fields.count >= 3, let calls = Int(fields[fields.count - 2]), let rows = Int(fields[fields.count - 1])
            else { continue }
            counts[fields.dropLast(2).joined(separator: "|")] = Count(calls: calls, rows: rows)
        }
        return counts
    }

    func reset() async throws { try await sql("select pg_stat_statements_reset()") }
}

/// Signed-in people, inserted by SQL: thousands within a moment.
enum InsertedPeople {
    /// Creates `count` people in a migrated database, and a room with all of them. Returns their tokens and the room's
    /// id. The first person owns the room.
    static func room(
        of count: Int, in database: String, on cluster: TestCluster
    ) async throws -> (tokens: [String], room: String) {
        let room = newID()
        try await cluster.psql(
            """
            create temp table given as select n, gen_random_uuid() as id from generate_series(1, \(count)) n;
            insert into users (id, username, username_key, name, created_at)
            select id, 'member' || n, 'member' || n, 'Member ' || n, now() from given;
            insert into sessions (id, user_id, token_digest, created_at, last_used_at)
            select gen_random_uuid(), id, sha256(int4send(n) || decode(repeat('00', 28), 'hex')), now(), now() from given;
            select thread_create('\(room)', 'room', 'Everybody', 'everybody',
                (select id from given where n = 1), (select array_agg(id) from given where n > 1), false);
            """, database: database)
        return ((1...count).map(token), room)
    }

    /// `parley_`, then the base64url of the secret and its CRC-32: README and docs promise nothing of this form, but
    /// nodes refuse other tokens without a query.
    private static func token(_ number: Int) -> String {
        let secret = UInt32(number).bigEndianBytes + [UInt8](repeating: 0, count: 28)
        return "parley_" + Base64.urlSafe.encode(secret + CRC32.bytes(of: secret))
    }
}
