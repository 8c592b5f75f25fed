// Answers kept under a key: by caller and request, for a day, and never without what they are about.
import TestSupport
import Testing

@Suite("Keeping answers", .timeLimit(.minutes(1)))
struct KeepingAnswers {
    private static let ann = "00000000-0000-0000-0000-000000000001"
    private static let ground = """
        insert into users (id, name, created_at) values ('\(ann)', 'Ann', now());
        create function make(key text, request text, id int, now timestamptz = now()) returns text language sql as $$
            select concat_ws(' ', a.status, a.body::json ->> 'id', a.is_repeat)
            from idempotency_claim('\(ann)', key, request::bytea, now) c
            cross join lateral idempotency_answer('\(ann)', key, c.status, c.body, case when c.status is null then (
                select json_build_object('status', 201, 'body', json_build_object('id', ('00000000-0000-0000-0000-'
                    || lpad(id::text, 12, '0'))::uuid)::text, 'is_own', true)) end) a
        $$;

        """

    @Test("returns the first answer for a day, then counts the key as new; a sweep deletes what has expired")
    func expires() async throws {
        let id = { (number: Int) in "00000000-0000-0000-0000-00000000000\(number)" }
        let found = try await Psql.lines(
            Self.ground + """
                select make('k', 'a', 1);
                select make('k', 'a', 2, now() + interval '23:59');
                select status, body::json ->> 'id' from idempotency_find('\(Self.ann)', 'k', 'a', now());
                select coalesce(status::text, 'none') from idempotency_find('\(Self.ann)', 'k', 'a', now() + '1 day');
                select make('k', 'b', 3, now() + interval '24:00:01');
                select make('k', 'b', 4, now() + interval '30:00');
                select idempotency_sweep(10, now() + interval '1 day'), count(*) from idempotency_keys;
                select idempotency_sweep(10, now() + interval '3 days');
                select count(*) from idempotency_keys;
                """)
        #expect(
            found == [
                "201 \(id(1)) f", "201 \(id(1)) t", "201|\(id(1))", "none", "201 \(id(3)) f", "201 \(id(3)) t", "0|1",
                "1", "0",
            ])
    }

    @Test("keeps nothing if the transaction fails, and refuses another request without a change")
    func fails() async throws {
        let found = try await Psql.lines(
            Self.ground + """
                do $$ begin
                    perform make('k', 'a', 1);
                    raise exception 'the work failed';
                exception when others then
                    null;
                end $$;
                select count(*) from idempotency_keys;
                select make('k', 'b', 2);
                do $$ begin
                    perform make('k', 'a', 3);
                exception when sqlstate 'PY422' then
                    insert into idempotency_keys (caller_id, key, request, created_at)
                    values ('\(Self.ann)', sqlerrm, '', now());
                end $$;
                select key from idempotency_keys order by key;
                """)
        #expect(found == ["0", "201 00000000-0000-0000-0000-000000000002 f", "idempotency_key_reused", "k"])
    }
}
