// Walks of the log that erase names: one walk for many users, from the first position that can name each of them.
import TestSupport
import Testing

@Suite("Erasing names from the log", .timeLimit(.minutes(1)))
struct ErasingNamesFromTheLog {
    /// Twenty users, made a second apart, each named by their own event and by every later one.
    private static let ground = """
        create function user_of(n int) returns uuid language sql as $$
            select ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid
        $$;
        insert into users (id, name, created_at)
        select user_of(n), 'Name' || n, now() - interval '1 day' + n * interval '1 hour' from generate_series(1, 20) n;
        insert into events (pos, at, type, thread_id, body)
        select n * 1000 + i, u.created_at + i * interval '1 ms', 'message.created', user_of(99),
            event_json('message.created', user_of(99), now(), json_build_object('seq', n * 1000 + i,
                'sender', json_build_object('id', u.id, 'name', u.name))::text)
        from generate_series(0, 20) n join users u on u.id = user_of(greatest(n, 1)), generate_series(0, 999) i
        where n * 1000 + i > 0;
        create function sweep() returns int language plpgsql as $$
        declare v_count int := 0;
        begin
            while erasure_sweep(100) > 0 loop v_count := v_count + 1; end loop;
            return v_count;
        end $$;
        """

    private func run(_ sql: String) async throws -> [String] { try await Psql.lines(Self.ground + sql) }

    @Test("one walk of the log serves all waiting users, and keeps others' names")
    func together() async throws {
        let found = try await run(
            """
            select count(account_erase(user_of(n), false)) from generate_series(1, 19) n;
            -- 21,000 events and some, 2,000 at a time, and a step for each who joins.
            select sweep() between 11 and 40;
            select count(*) from erasures;
            select count(*), count(distinct substring(body from 'Name\\d+')) from events where body like '%Name%';
            select count(*) from events where body like '%Deleted user%';
            """)
        // Integrations get an event of each erasure.
        #expect(found == ["19", "t", "0", "1000|1", "20018"])
    }

    @Test("a walk begins where the account was created, and a user who is too late for one waits for the next")
    func fromTheMaking() async throws {
        let found = try await run(
            """
            select count(account_erase(user_of(15), false));
            select pos between 14000 and 14999 from erasures;
            select erasure_sweep(100);
            select pos > 15000, walks from erasures;
            select count(account_erase(user_of(1), false));
            select erasure_sweep(100);
            select count(*), count(*) filter (where walks) from erasures;
            select sweep() between 11 and 14;
            select count(*) from events where body ~ 'Name(1|15)"';
            """)
        #expect(found == ["1", "t", "1", "t|t", "1", "1", "2|1", "t", "0"])
    }

    /// Objects as `json` and as `jsonb` write them, which sorts the members.
    @Test("removes the host app's data of the account alone, however deep it is")
    func custom() async throws {
        let data = #"{"a": {"b": [{}, "}\"{", {"c": "\\"}]}, "custom": {"d": {}}}"#
        func event(_ first: String, _ second: String) -> String {
            #"{"n": 1.50, "users": [{"id": "\#(first)", "name": "Name1", "custom": \#(data), "username": "u"}, "#
                + #"{"id":"\#(second)","username":"v","name":"Name2","status_text":null,"custom":\#(data)}]}"#
        }
        let (ann, ben) = ("00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002")
        let found = try await Psql.lines(
            """
            select erasure_text($j$\(event(ann, ben))$j$, '\(ann)');
            select erasure_text(erasure_text($j$\(event(ann, ben))$j$, '\(ann)'), '\(ben)');
            """)
        let annOnly =
            #"{"n": 1.50, "users": [{"id": "\#(ann)", "name":"Deleted user", "custom": null, "username":null}, "#
        let withBen = #"{"id":"\#(ben)","username":"v","name":"Name2","status_text":null,"custom":\#(data)}]}"#
        let without = #"{"id":"\#(ben)","username":null,"name":"Deleted user","status_text":null,"custom":null}]}"#
        #expect(found == [annOnly + withBen, annOnly + without])
    }
}
