// The migrator's session with the database, on a thread that may block. MigrationPlan decides what is missing.

import CLibpq
import Linux
import Logging

/// One connection. After an error it is dropped, and PostgreSQL rolls back the open transaction.
final class MigrationSession {
    private let connection: BlockingConnection

    static let lockSeconds = 30

    init(_ settings: PostgresSettings, logger: Logger, stop: Waker) throws(PostgresError) {
        do throws(ConnectFailure) {
            connection = try Dial.connect(settings, logger: logger, stop: stop)
        } catch {
            throw error == .stopped ? .closed : .unavailable(error.reason)
        }
    }

    func withChecksums(_ migrations: [MigrationFile]) throws -> [MigrationFile] {
        let checksums = try checksums(migrations.map(\.text))
        return zip(migrations, checksums).map { migration, checksum in
            var migration = migration
            migration.checksum = checksum
            return migration
        }
    }

    /// The rows of `schema_migrations`; empty if there is no such table.
    func applied() throws -> [AppliedMigration] {
        guard try exists("schema_migrations") else { return [] }
        let rows = try query("select version, name, checksum, breaking from schema_migrations order by version")
        return try rows.map { row in
            AppliedMigration(
                version: try row.int4(0), name: try row.text(1), checksum: try row.text(2), isBreaking: try row.bool(3))
        }
    }

    /// Applies the first missing migration and returns its name; nil when none is missing. `isNewer`: the database has
    /// migrations that this release does not know.
    func applyNext(_ migrations: [MigrationFile]) throws -> (name: String?, isNewer: Bool) {
        try transaction { () -> (name: String?, isNewer: Bool) in
            let plan = try MigrationPlan(migrations, applied: try applied())
            guard !plan.isBroken else { throw MigrationError.newer(unknown: plan.unknown.map(\.name)) }
            guard let migration = plan.missing.first else { return (nil, !plan.unknown.isEmpty) }
            try apply(name: migration.name, text: migration.text)
            try query(
                """
                insert into schema_migrations (version, name, checksum, breaking)
                values ($1::int4, $2::text, $3::text, $4::bool)
                """,
                [
                    .int4(migration.version), .text(migration.name), .text(migration.checksum),
                    .bool(migration.isBreaking),
                ])
            return (migration.name, !plan.unknown.isEmpty)
        }
    }

    /// Returns true when the set differed and was applied.
    func replaceFunctions(_ functions: [Migrator.SQLFile]) throws -> Bool {
        let checksum = try checksum(functions)
        return try transaction {
            if try !exists("schema_functions") { try run(Self.functionsTable) }
            guard try storedChecksum() != checksum else { return false }
            // Functions call one another in any order of names; their bodies are checked when they run.
            try run("set local check_function_bodies = off")
            for file in functions { try apply(name: file.name, text: file.text) }
            try query(
                """
                insert into schema_functions (id, checksum) values (1, $1::text)
                on conflict (id) do update set checksum = excluded.checksum, applied_at = now()
                """, [.text(checksum)])
            return true
        }
    }

    func functionsDiffer(_ functions: [Migrator.SQLFile]) throws -> Bool {
        let stored = try exists("schema_functions") ? try storedChecksum() : nil
        return try stored != checksum(functions)
    }

    // MARK: SQL

    private static let migrationsTable = """
        create table schema_migrations (
            version int primary key,
            name text not null,
            checksum text not null,
            breaking boolean not null,
            applied_at timestamptz not null default now()
        )
        """

    private static let functionsTable = """
        create table schema_functions (
            id int primary key check (id = 1),
            checksum text not null,
            applied_at timestamptz not null default now()
        )
        """

    /// Uses `set local`, because behind a transaction pooler only a transaction stays on one server connection. The
    /// lock comes first, so that what is read after it stays true until the commit. It is a table's: any user of the
    /// database may hold an advisory lock for ever.
    private func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        try begin()
        if try !exists("schema_migrations") { try makeMigrationsTable() }
        try run("lock table schema_migrations in share update exclusive mode")
        let value = try body()
        try commit()
        return value
    }

    /// Creates the table in a transaction of its own, unless another session has just done so, and begins the next one.
    private func makeMigrationsTable() throws {
        do {
            try run(Self.migrationsTable)
            try commit()
        } catch PostgresError.server(let error) where ["23505", "42710", "42P07"].contains(error.sqlState) {
            try run("rollback")
        }
        try begin()
    }

    private func begin() throws {
        try run(
            """
            begin;
            set local lock_timeout = '\(Self.lockSeconds)s';
            set local statement_timeout = 0;
            set local idle_in_transaction_session_timeout = '60s';
            \(SessionSettings.planner.map { "set local \($0) = on;" }.joined(separator: "\n"))
            """)
        try run("select \(SessionSettings.searchPathForFunctions)")
    }

    private func commit() throws {
        // PostgreSQL answers COMMIT of an aborted transaction with ROLLBACK, without an error.
        do {
            guard try run("commit")?.commandTag == "COMMIT" else {
                throw MigrationError.notOneTransaction(name: "the transaction's commit")
            }
        } catch PostgresError.server(let error) {
            // Deferred constraints are checked only now.
            throw MigrationError.failed(name: "the transaction's commit", line: nil, error)
        }
    }

    /// Sends a complete file in the current transaction, and checks that the transaction is still the same afterwards.
    private func apply(name: String, text: String) throws {
        let before = try transactionID()
        do {
            try run(text)
        } catch {
            guard case .server(let failure) = error, failure.sqlState != "55P03" else { throw error }
            throw MigrationError.failed(name: name, line: failure.position.map { Self.line($0, text) }, failure)
        }
        guard PQtransactionStatus(connection.handle.pointer) == PQTRANS_INTRANS, try transactionID() == before else {
            throw MigrationError.notOneTransaction(name: name)
        }
    }

    private func transactionID() throws -> String {
        try query("select pg_current_xact_id()::text").first?.text(0) ?? ""
    }

    private func exists(_ table: String) throws -> Bool {
        try query("select to_regclass($1::text) is not null", [.text(table)]).first?.bool(0) ?? false
    }

    private func storedChecksum() throws -> String? {
        try query("select checksum from schema_functions where id = 1").first?.text(0)
    }

    /// Names are included and ends are marked, because moving text between files is a change as well.
    private func checksum(_ functions: [Migrator.SQLFile]) throws -> String {
        try checksums([functions.map { "\($0.name)\u{1}\($0.text)\u{1}" }.joined()]).first ?? ""
    }

    /// SHA-256 in hexadecimal, computed by PostgreSQL, so that no other library is needed.
    private func checksums(_ texts: [String]) throws -> [String] {
        let rows = try query(
            """
            select encode(sha256(text), 'hex')
            from unnest($1::bytea[]) with ordinality as texts (text, number) order by number
            """, [.bytesArray(texts.map { Array($0.utf8) })])
        return try rows.map { try $0.text(0) }
    }

    /// Migrations have no time limit. Only locks have one, and cancellation ends the wait.
    private var deadline: Instant { .now + .seconds(7 * 86_400) }

    @discardableResult
    private func run(_ sql: String) throws(PostgresError) -> Rows? { try connection.execute(sql, until: deadline) }

    @discardableResult
    private func query(_ sql: String, _ parameters: [Parameter] = []) throws(PostgresError) -> Rows {
        try connection.execute(sql, parameters, until: deadline)
    }

    private static func line(_ position: Int, _ text: String) -> Int {
        text.unicodeScalars.prefix(max(0, position - 1)).count { $0 == "\n" } + 1
    }
}
