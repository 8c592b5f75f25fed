// Marks that are published together, by the database alone: time is a parameter.
import Store
import TestSupport
import Testing

@Suite("Receipts published together", .timeLimit(.minutes(1)))
struct ReceiptsPublishedTogether {
    /// A group of twelve with two messages of the first member; people are named by their last digits.
    private static let group = """
        insert into users (id, name, created_at) select
            ('00000000-0000-0000-0000-0000000000' || n)::uuid, 'User', now() from generate_series(10, 21) n;
        select from thread_create('00000000-0000-0000-0000-00000000000f', 'group', 'g', null,
            '00000000-0000-0000-0000-000000000010', (select array_agg(id) from users where id::text not like '%10'), false);
        select from message_append(array[gen_random_uuid(), gen_random_uuid()],
            array_fill('00000000-0000-0000-0000-00000000000f'::uuid, array[2]),
            array_fill('00000000-0000-0000-0000-000000000010'::uuid, array[2]), '{message,message}',
            array['{"text":"hi"}'::json, '{"text":"ho"}'], '{null,null}', '{"{}","{}"}');
        create function mark(reader int, seq int) returns text language sql as $$
            select outcome || case when is_unpublished then ' untold' else '' end from receipt_put(
                array[('00000000-0000-0000-0000-0000000000' || reader)::uuid],
                array['00000000-0000-0000-0000-00000000000f'::uuid], array[seq::bigint], '{null}')
        $$;
        create function tell(seconds int) returns text language sql as $$
            select count(*) || ' wait' from receipt_publish(
                '{00000000-0000-0000-0000-00000000000f}', now() + seconds * interval '1 s')
        $$;
        create function find_untold(seconds int) returns text language sql as $$
            select count(*) || ' wait' from receipt_publish(null, now() + seconds * interval '1 s')
        $$;
        create function told() returns text language sql as $$
            select string_agg((select string_agg(right(r ->> 'user_id', 2) || '=' || (r ->> 'read_seq'), ' ')
                from json_array_elements(e.body::json -> 'data' -> 'receipts') r), ', ' order by e.pos)
            from events e where e.type = 'receipt.updated' and e.user_id is null
        $$;
        """

    private func run(_ sql: String, on database: String) async throws -> [String] {
        try await Psql.lines(sql, in: database)
    }

    @Test("are published when the oldest is a second old, each once, with the marks of that moment")
    func due() async throws {
        let database = try await MigratedDatabase.create()
        _ = try await run(Self.group, on: database)
        let found = try await run(
            """
            select mark(11, 1), mark(12, 2);
            select mark(11, 2), mark(11, 1), mark(13, 3);
            select tell(0), coalesce(told(), 'nobody');
            select tell(2);
            select told();
            select tell(2), find_untold(20);
            select told();
            select count(*) from events where type = 'receipt.updated' and user_id is not null;
            """, on: database)
        #expect(
            found == [
                "ok untold|ok untold", "ok untold|ok untold|past_head", "1 wait|nobody", "0 wait", "11=2 12=2",
                "0 wait|0 wait", "11=2 12=2", "3",
            ])
    }

    @Test("are published by another node after five seconds")
    func leftOver() async throws {
        let database = try await MigratedDatabase.create()
        _ = try await run(Self.group, on: database)
        let found = try await run(
            """
            select mark(11, 1);
            select find_untold(4), coalesce(told(), 'nobody');
            select find_untold(6);
            select told(), (select count(*) from receipt_news);
            """, on: database)
        #expect(found == ["ok untold", "0 wait|nobody", "0 wait", "11=1|0"])
    }

    @Test("lose no mark that moves during the publishing")
    func movesMeanwhile() async throws {
        let database = try await MigratedDatabase.create()
        _ = try await run(Self.group + "select mark(11, 1);", on: database)
        async let move = run("begin; select mark(11, 2); \(Psql.sleep) commit;", on: database)
        #expect(try await Psql.isAsleep(in: database))
        async let publishing = run("select tell(2);", on: database)
        #expect(try await Psql.isBlocked(in: database))
        try await Psql.wake(in: database)
        _ = try await move
        #expect(try await publishing == ["0 wait"])
        _ = try await run("select tell(4);", on: database)
        #expect(try await run("select told();", on: database).last?.hasSuffix("11=2") == true)
    }
}
