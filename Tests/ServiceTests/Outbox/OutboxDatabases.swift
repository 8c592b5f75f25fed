// The outbox in a database of another program: what a node makes of its rows, and what it does while it is away.
import Domain
import Foundation
import Logging
import Postgres
import Store
import Telemetry
import TestSupport
import Testing

@testable import Service

@Suite("An outbox in another database", .timeLimit(.minutes(1)))
struct OutboxDatabases {
    /// Parley's database with accounts 1 to 4 and the group 100 of the first two, and a shop's database with an outbox.
    private struct Setup {
        let parley: String
        let shop: String
        let store: Store
        let client: PostgresClient

        static let people = """
            create function u(n int) returns uuid language sql as $$
                select ('00000000-0000-0000-0001-' || lpad(n::text, 12, '0'))::uuid $$;
            """

        init(on cluster: TestCluster? = nil) async throws {
            parley = try await MigratedDatabase.create()
            try await Psql.run(
                Self.people + """
                    insert into users (id, username, username_key, name, created_at)
                    select u(n), 'u' || n, 'u' || n, 'U' || n, now() from generate_series(1, 4) n;
                    select from thread_create(u(100), 'group', 'T', null, u(1), array[u(2)], false);
                    """, conninfo: parley)
            let shared = try await TestCluster.shared()
            shop = try await (cluster ?? shared).createDatabase()
            let name = shop.firstMatch(of: /dbname='(\w+)'/).map { String($0.1) } ?? ""
            let installed = try await OutboxInstallation.run(
                conninfo: (cluster ?? shared).superuserConninfo(database: name), logger: Logger(label: "test"))
            #expect(installed == .installed)
            try await Psql.run(Self.people, conninfo: (cluster ?? shared).superuserConninfo(database: name))
            client = PostgresClient(test: parley, logger: Logger(label: "test"))
            store = Store(client)
        }

        /// As a program of the shop; here the superuser, who may do everything.
        func sql(_ text: String) async throws -> String {
            try await Psql.run(text, conninfo: shop.replacing("user='parley'", with: "user='postgres'"))
        }

        func reader(_ node: String, metrics: OutboxMetrics, logger: Logger) -> OutboxReader {
            let url = shop.replacing("user='parley'", with: "user='postgres'")
            return OutboxReader(
                number: 1, database: OutboxDatabase(conninfo: url, node: node, logger: logger), place: "the shop",
                store: store, limits: Limits(), metrics: metrics, logger: logger)
        }

        func said(_ thread: String = "u(100)") async throws -> String {
            try await Psql.run(
                """
                select string_agg(m.payload ->> 'text', ' ' order by m.seq) from messages m
                where m.thread_id = \(thread) and m.type = 'message'
                """, conninfo: parley)
        }
    }

    private func running(_ readers: [OutboxReader], _ body: () async throws -> Void) async throws {
        let tasks = readers.map { reader in Task { try await reader.run() } }
        try await finally(body) {
            for task in tasks {
                task.cancel()
                _ = await task.result
            }
        }
    }

    @Test("is emptied in order by two nodes, each message once; refusals stay in that database")
    func emptied() async throws {
        let setup = try await Setup()
        let metrics = OutboxMetrics(databaseCount: 1)
        _ = try await setup.sql(
            """
            begin;
            select from parley.send(u(1), u(100), '{"text":"a"}', u(201));
            select from parley.add_member(u(100), u(3));
            select from parley.send(u(3), u(100), '{"text": "b", "k": [1, 2]}');
            select from parley.send(u(4), parley.ensure_direct(u(3), u(4)), '{"text":"d"}');
            commit;
            select from parley.send(u(4), u(100), '{"text":"no member"}');
            -- The owner of that database can write rows that parley.send would refuse.
            insert into parley.outbox (kind, thread_id, user_id, message_id, payload) values
                ('send', u(100), u(1), u(202), '{"text":1}'),
                ('send', u(100), u(1), u(203), json_build_object('text', repeat('x', 20000))),
                ('send', u(100), u(1), null, null);
            begin;
            select from parley.send(u(1), u(100), '{"text":"never"}');
            rollback;
            select from parley.send(u(2), u(100), '{"text":"c"}');
            """)
        let readers = ["n1", "n2"].map { setup.reader($0, metrics: metrics, logger: .quiet) }
        try await running(readers) {
            try await eventually("the outbox is empty") {
                try await setup.sql("select count(*) from parley.outbox") == "0"
            }
            #expect(try await setup.said() == "a b c")
            #expect(
                try await Psql.run(
                    "select payload from messages where payload ->> 'text' = 'b'", conninfo: setup.parley)
                    == #"{"k":[1,2],"text":"b"}"#)
            let direct = try await setup.sql("select parley.outbox_direct_id(u(3), u(4))")
            #expect(try await setup.said("'\(direct)'") == "d")
            #expect(
                try await setup.sql(
                    "select string_agg(code, ' ' order by failed_at, code) from parley.outbox_failures")
                    == "invalid invalid invalid not_joined")
            // Again, as after a node that died before it deleted its rows.
            _ = try await setup.sql("select from parley.send(u(1), u(100), '{\"text\":\"a\"}', u(201))")
            try await eventually("the outbox is empty") {
                try await setup.sql("select count(*) from parley.outbox") == "0"
            }
            #expect(try await setup.said() == "a b c")
        }
        var text = MetricsText()
        metrics.write(to: &text)
        let page = text.text
        #expect(page.contains("parley_outbox_rows_total{database=\"1\"} 11"), "\(page)")
        #expect(page.contains("parley_outbox_failed_rows_total{database=\"1\"} 4"), "\(page)")
        #expect(page.contains("parley_outbox_database_up{database=\"1\"} 1"), "\(page)")
        await setup.client.shutdown()
    }

    @Test("that is down is retried, and logged once; it is read again when it is back")
    func away() async throws {
        let cluster = try await TestCluster.own(fsync: false)
        let setup = try await Setup(on: cluster)
        let (lines, metrics) = (LogLines(), OutboxMetrics(databaseCount: 1))
        var quiet = lines.logger
        quiet.logLevel = .info
        let reader = setup.reader("n1", metrics: metrics, logger: quiet)
        try await running([reader]) {
            _ = try await setup.sql("select from parley.send(u(1), u(100), '{\"text\":\"a\"}')")
            try await eventually("a is said") { try await setup.said() == "a" }
            _ = try await setup.sql("select from parley.send(u(1), u(100), '{\"text\":\"b\"}')")
            await cluster.stop(.immediate)
            try await eventually("failures") { metrics.failures.value >= 2 }
            try await cluster.start()
            try await eventually("b is said") { try await setup.said() == "a b" }
            try await eventually("the line about it") { lines.all.contains { $0.contains("answers again") } }
        }
        #expect(lines.all.count { $0.contains("reading the outbox failed") } == 1, "\(lines.all)")
        #expect(lines.all.count { $0.contains("answers again") } == 1, "\(lines.all)")
        await setup.client.shutdown()
        await cluster.close()
    }

    @Test("is left alone by a node without the lease, and taken over when the lease ends")
    func lease() async throws {
        let setup = try await Setup()
        let began = ContinuousClock.now
        _ = try await setup.sql(
            """
            select from parley.send(u(1), u(100), '{"text":"a"}');
            select from parley.outbox_read('dead', 10, 2, 16384, 65536);
            """)
        let metrics = OutboxMetrics(databaseCount: 1)
        try await running([setup.reader("n1", metrics: metrics, logger: Logger(label: "test"))]) {
            try await eventually("a is said") { try await setup.said() == "a" }
        }
        #expect(ContinuousClock.now - began >= .seconds(2), "the lease holds")
        await setup.client.shutdown()
    }
}
