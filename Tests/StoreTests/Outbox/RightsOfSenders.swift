// The role parley_sender may call three functions and do nothing else.
import Logging
import Postgres
import TestSupport
import Testing

@testable import Store

@Suite("The rights of the role parley_sender", .timeLimit(.minutes(1)))
struct RightsOfSenders {
    /// Functions that the role may call, and tables, sequences and schemas that it may use in any way.
    private static let rights = """
        set search_path = public;
        select string_agg(p.oid::regprocedure::text, ' ' order by p.proname) from pg_proc p
        where p.pronamespace::regnamespace::text not in ('pg_catalog', 'information_schema')
            and has_function_privilege('parley_sender', p.oid, 'execute');
        select coalesce(string_agg(c.oid::regclass::text, ' '), 'none') from pg_class c
        where c.relnamespace::regnamespace::text not in ('pg_catalog', 'information_schema', 'pg_toast')
            and case when c.relkind = 'S' then has_sequence_privilege('parley_sender', c.oid, 'usage, select, update')
                when c.relkind in ('r', 'p', 'v', 'm', 'f') then
                    has_table_privilege('parley_sender', c.oid, 'select, insert, update, delete, truncate, references, trigger')
                    or has_any_column_privilege('parley_sender', c.oid, 'select, insert, update, references')
                else false end;
        select string_agg(n.nspname, ' ' order by n.nspname) from pg_namespace n
        where n.nspname !~ '^pg_' and n.nspname <> 'information_schema' and has_schema_privilege('parley_sender', n.oid, 'usage');
        select count(*) from pg_namespace n where has_schema_privilege('parley_sender', n.oid, 'create');
        select rolcanlogin, rolsuper, rolcreaterole, rolcreatedb, rolbypassrls from pg_roles where rolname = 'parley_sender';
        select bool_and(p.prosecdef and p.proconfig[1] like 'search_path=%pg_temp') from pg_proc p
        where p.pronamespace = 'parley'::regnamespace and p.proname in ('send', 'ensure_direct', 'add_member');
        """

    /// - Parameter schemas: those that the role may use.
    private static func expected(schemas: String) -> [String] {
        [
            "parley.add_member(uuid,uuid) parley.ensure_direct(uuid,uuid) parley.send(uuid,uuid,jsonb,uuid)", "none",
            schemas, "0", "f|f|f|f|f", "t",
        ]
    }

    @Test("are three functions in Parley's database")
    func inParleysDatabase() async throws {
        let found = try await Psql.run(Self.rights, conninfo: try await MigratedDatabase.create())
        #expect(found.split(separator: "\n").map { String($0) } == Self.expected(schemas: "parley"))
    }

    @Test("are the same in a database apart; installing again changes nothing")
    func apart() async throws {
        let cluster = try await TestCluster.shared()
        let database = try await cluster.createDatabase()
        let superuser = cluster.superuserConninfo(
            database: database.firstMatch(of: /dbname='(\w+)'/).map { String($0.1) } ?? "")
        for _ in 1...2 {
            let result = try await OutboxInstallation.run(conninfo: superuser, logger: Logger(label: "test"))
            #expect(result == .installed)
        }
        #expect(
            try await Psql.run(Self.rights, conninfo: superuser).split(separator: "\n").map { String($0) }
                == Self.expected(schemas: "parley public"))
    }

    @Test("can be added to Parley's own database by an administrator")
    func own() async throws {
        let cluster = try await TestCluster.shared()
        let database = try await MigratedDatabase.create()
        let name = database.firstMatch(of: /dbname='(\w+)'/).map { String($0.1) } ?? ""
        try await Psql.run("revoke usage on schema parley from parley_sender", conninfo: database)
        let result = try await OutboxInstallation.run(
            conninfo: cluster.superuserConninfo(database: name), logger: Logger(label: "test"))
        #expect(result == .roleAdded)
        #expect(
            try await Psql.run(Self.rights, conninfo: database).split(separator: "\n").map { String($0) }
                == Self.expected(schemas: "parley"))
    }

    /// Ways to lock a table for which PostgreSQL asks for no right to the table, and as many for which it does.
    private static let locking = [
        "lock table public.%@ in access share mode", "lock table public.%@ in share update exclusive mode",
        // Takes `access exclusive`, and checks the owner afterwards.
        "create rule r as on insert to public.%@ do also select 1",
        // Takes `row exclusive`, and checks nothing before the statement is run.
        "prepare p as delete from public.%@",
        "create temporary view v as select 1 from public.%@",
        "create trigger t after insert on public.%@ execute function pg_catalog.suppress_redundant_updates_trigger()",
        "alter table public.%@ disable trigger all", "analyze public.%@",
        "select 'public.%@'::regclass",
    ]

    @Test("let a login lock none of Parley's tables, in any way")
    func locks() async throws {
        let cluster = try await TestCluster.shared()
        let database = try await MigratedDatabase.create()
        let role = "shop_\(UInt32.random(in: 0 ... .max))"
        try await cluster.psql("create role \(role) login in role parley_sender", database: database)
        let shop = database.replacing("user='parley'", with: "user='\(role)'")
        // Where no schema that the role may use has a table, nothing can be locked by its name.
        let tables = try await Psql.run(
            """
            select string_agg(c.oid::regclass::text, ' ') from pg_class c
            where c.relkind in ('r', 'p', 'v', 'm', 'S', 'i') and c.relnamespace::regnamespace::text !~ '^pg_|^information_schema$'
                and has_schema_privilege('\(role)', c.relnamespace, 'usage')
            """, conninfo: database)
        #expect(tables == "")
        for way in Self.locking {
            for table in ["log_lock", "lock_rows", "messages", "outbox"] {
                let failure = await #expect(throws: Psql.Failure.self) {
                    try await Psql.run("begin; " + way.replacing("%@", with: table), conninfo: shop)
                }
                // Not `must be owner`, which comes after the lock.
                #expect(failure?.description.contains("permission denied for schema public") == true, "\(way) \(table)")
            }
        }
    }

    @Test("let a login send, and neither read the outbox nor call the pump")
    func login() async throws {
        let cluster = try await TestCluster.shared()
        let database = try await MigratedDatabase.create()
        try await Psql.run(OutboxGround.sql, conninfo: database)
        let role = "shop_\(UInt32.random(in: 0 ... .max))"
        try await cluster.psql("create role \(role) login in role parley_sender", database: database)
        let shop = database.replacing("user='parley'", with: "user='\(role)'")
        let (one, group) = ("00000000-0000-0000-0001-000000000001", "00000000-0000-0000-0001-000000000100")
        #expect(
            try await Psql.run(
                "select parley.send('\(one)', '\(group)', '{\"text\":\"x\"}') is not null", conninfo: shop)
                == "t")
        for refused in [
            "select * from public.outbox", "delete from public.outbox_failures", "select * from public.users",
            "select * from public.node_channels",
            "select outbox_step(1, 1, 1, 1)", "select parley.outbox_configure(1, 1)", "select log_announce(1)",
        ] {
            await #expect(throws: Psql.Failure.self, "\(refused)") { try await Psql.run(refused, conninfo: shop) }
        }
    }
}
