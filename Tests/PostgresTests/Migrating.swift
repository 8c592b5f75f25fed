// The migrator against a real server: from empty, twice, at once, and failures that must leave no trace.

import Postgres
import TestSupport
import Testing

@Suite("The migrator", .timeLimit(.minutes(1)))
struct Migrating {
    let settings: PostgresSettings

    init() async throws {
        settings = PostgresSettings(
            conninfo: try await TestCluster.shared().createDatabase(), applicationName: "parley-migrate")
    }

    static func migration(_ name: String, _ sql: String, breaking: String = "no") -> Migrator.SQLFile {
        .init(name: name, text: "-- locks: all\n-- length: short\n-- breaking: \(breaking)\n\(sql)")
    }

    static let first = migration("0001_a.sql", "create table a (x int4);\ninsert into a values (1);")
    static let second = migration("0002_b.sql", "insert into a values (2);")
    static let function = Migrator.SQLFile(
        name: "f.sql", text: "create or replace function f() returns int4 language sql as 'select 1';")

    func migrator(_ migrations: [Migrator.SQLFile], _ functions: [Migrator.SQLFile] = [function]) -> Migrator {
        Migrator(migrations: migrations, functions: functions)
    }

    func value(_ sql: String) async throws -> Int64? {
        var value: Int64?
        try await withClient(connections: 1, conninfo: settings.conninfo) {
            value = try await $0.run(sql).first?.int8(0)
        }
        return value
    }

    @Test("brings an empty database up to date, then has nothing left to do")
    func fromEmpty() async throws {
        let migrator = migrator([Self.second, Self.first])
        #expect(try await migrator.check(settings, logger: .quiet) == .empty)
        let report = try await migrator.migrate(settings, logger: .quiet)
        #expect(report == MigrationReport(applied: ["0001_a.sql", "0002_b.sql"], functionsReplaced: true))
        #expect(try await migrator.check(settings, logger: .quiet) == .current)
        #expect(try await migrator.migrate(settings, logger: .quiet) == MigrationReport())
        #expect(try await value("select sum(x) + f() from a") == 4)
        #expect(try await value("select count(*) from schema_migrations where not breaking") == 2)
    }

    @Test("applies only what is missing, and functions only when they changed")
    func incremental() async throws {
        _ = try await migrator([Self.first]).migrate(settings, logger: .quiet)
        let changed = Migrator.SQLFile(name: "f.sql", text: Self.function.text.replacing("select 1", with: "select 7"))
        let next = migrator([Self.first, Self.second], [changed])
        #expect(try await next.check(settings, logger: .quiet) == .older(missing: ["0002_b.sql", "functions"]))
        let report = try await next.migrate(settings, logger: .quiet)
        #expect(report == MigrationReport(applied: ["0002_b.sql"], functionsReplaced: true))
        #expect(try await value("select f()::int8") == 7)
    }

    @Test("comes up on three nodes at once, each migration applied once")
    func atOnce() async throws {
        let slow = Self.migration("0003_c.sql", "select pg_sleep(0.1); create table c ();")
        let migrator = migrator([Self.first, Self.second, slow])
        let settings = settings
        let reports = try await withThrowingTaskGroup(of: MigrationReport.self) { group in
            for _ in 0..<3 { group.addTask { try await migrator.migrate(settings, logger: .quiet) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(reports.flatMap(\.applied).sorted() == ["0001_a.sql", "0002_b.sql", "0003_c.sql"])
        #expect(reports.count { $0.functionsReplaced } == 1)
        #expect(try await value("select sum(x) from a") == 3)
    }

    @Test("leaves nothing of a migration that fails, keeps those before it, and names the line")
    func failing() async throws {
        let bad = Self.migration("0002_b.sql", "create table b ();\nselect 1;\nselect 'é' || no_such;")
        let error = await #expect(throws: MigrationError.self) {
            try await migrator([Self.first, bad]).migrate(settings, logger: .quiet)
        }
        guard case .failed("0002_b.sql", let line, let cause) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(line == 6 && cause.sqlState == "42703")
        #expect(try await value("select count(*) from pg_class where relname = 'b'") == 0)
        #expect(try await migrator([Self.first, bad]).check(settings, logger: .quiet).isOlder)
        #expect(
            try await migrator([Self.first, Self.second]).migrate(settings, logger: .quiet).applied == ["0002_b.sql"])
    }

    @Test("leaves no function of a set in which one fails")
    func failingFunction() async throws {
        let bad = Migrator.SQLFile(
            name: "g.sql", text: "create or replace function g() returns no_such language sql as '';")
        await #expect(throws: MigrationError.self) {
            try await migrator([Self.first], [Self.function, bad]).migrate(settings, logger: .quiet)
        }
        #expect(try await value("select count(*) from pg_proc where proname = 'f'") == 0)
    }

    @Test(
        "refuses a file that ends its transaction, or hides an error from it",
        arguments: [
            "create table b (); commit;", "create table b (); commit; begin;", "rollback; begin;",
        ])
    func refusesTransactionControl(sql: String) async throws {
        await #expect(throws: MigrationError.notOneTransaction(name: "0001_a.sql")) {
            try await migrator([Self.migration("0001_a.sql", sql)]).migrate(settings, logger: .quiet)
        }
    }

    @Test("refuses a file that was changed after it was applied")
    func changed() async throws {
        _ = try await migrator([Self.first]).migrate(settings, logger: .quiet)
        let changed = migrator([Self.migration("0001_a.sql", "create table a (x int8);")])
        await #expect(throws: MigrationError.checksumDiffers(name: "0001_a.sql")) {
            try await changed.migrate(settings, logger: .quiet)
        }
        await #expect(throws: MigrationError.checksumDiffers(name: "0001_a.sql")) {
            try await changed.check(settings, logger: .quiet)
        }
    }

    @Test("accepts a newer schema without breaking changes, and leaves its functions unchanged")
    func newerHarmless() async throws {
        let newer = Migrator.SQLFile(name: "f.sql", text: Self.function.text.replacing("select 1", with: "select 2"))
        _ = try await migrator([Self.first, Self.second], [newer]).migrate(settings, logger: .quiet)
        let old = migrator([Self.first])
        #expect(try await old.check(settings, logger: .quiet) == .newer(unknown: ["0002_b.sql"], breaking: false))
        #expect(try await old.migrate(settings, logger: .quiet) == MigrationReport())
        #expect(try await value("select f()::int8") == 2)
    }

    @Test("refuses a newer schema with a breaking change")
    func newerBreaking() async throws {
        let breaking = Self.migration("0002_b.sql", "drop table a;", breaking: "yes")
        _ = try await migrator([Self.first, breaking]).migrate(settings, logger: .quiet)
        let old = migrator([Self.first])
        #expect(try await old.check(settings, logger: .quiet) == .newer(unknown: ["0002_b.sql"], breaking: true))
        await #expect(throws: MigrationError.newer(unknown: ["0002_b.sql"])) {
            try await old.migrate(settings, logger: .quiet)
        }
    }

    @Test("waits for no advisory lock: any user of the database may hold one for ever")
    func advisoryLocks() async throws {
        let (settings, migrator) = (settings, migrator([Self.first]))
        try await withClient(connections: 1, conninfo: settings.conninfo) { client in
            try await client.run("select pg_advisory_lock(7266000)::text, pg_advisory_lock(4711)::text")
            let report = try await bounded(.seconds(20)) { try await migrator.migrate(settings, logger: .quiet) }
            #expect(report.applied == ["0001_a.sql"])
        }
    }

    @Test("ends soon when its task is cancelled while it waits for the lock")
    func cancelled() async throws {
        let (settings, migrator) = (settings, migrator([Self.first]))
        _ = try await migrator.migrate(settings, logger: .quiet)
        let holder = Task {
            try await Psql.run(
                "begin; lock table schema_migrations in share update exclusive mode;" + Psql.sleep + "commit;",
                conninfo: settings.conninfo)
        }
        #expect(try await Psql.isAsleep(in: settings.conninfo))
        let task = Task { try await migrator.migrate(settings, logger: .quiet) }
        try await withClient(connections: 1, conninfo: settings.conninfo) { client in
            try await eventually("the migration waits for the lock") {
                try await client.run("select count(*) from pg_locks where locktype = 'relation' and not granted")
                    .first?.int8(0) == 1
            }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await bounded(.seconds(5)) { try await task.value } }
        try await Psql.wake(in: settings.conninfo)
        _ = try await holder.value
    }

    @Test("reports why it cannot connect")
    func unavailable() async throws {
        let nowhere = PostgresSettings(conninfo: "host=127.0.0.1 port=1", applicationName: "x")
        await #expect(throws: PostgresError.unavailable("connection refused")) {
            try await migrator([Self.first]).migrate(nowhere, logger: .quiet)
        }
    }
}

extension SchemaState {
    fileprivate var isOlder: Bool {
        if case .older = self { return true }
        return false
    }
}
