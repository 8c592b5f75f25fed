// The search index when messages change while a pass runs, and messages from before the index.
import Postgres
import Store
import TestSupport
import Testing

@Suite("The search index", .timeLimit(.minutes(1)))
struct IndexingMessages {
    private static let ann = "00000000-0000-0000-0000-00000000000a"
    private static let thread = "00000000-0000-0000-0000-00000000000b"

    /// A database where Ann has a group.
    private static func database() async throws -> String {
        let database = try await MigratedDatabase.create()
        try await Psql.run(
            """
            insert into users (id, username, username_key, name, created_at) values ('\(ann)', 'ann', 'ann', 'Ann', now());
            select thread_create('\(thread)', 'group', 'Group', null, '\(ann)', '{}', false);
            """, conninfo: database)
        return database
    }

    private static func append(_ texts: [String], to database: String) async throws {
        for text in texts {
            try await Psql.run(
                """
                select * from message_append(array[gen_random_uuid()], array['\(thread)'::uuid], array['\(ann)'::uuid],
                    array['message'], array['{"text":"\(text)"}'::json], array[null::uuid], array['{}'])
                """, conninfo: database)
        }
    }

    private static func words(_ database: String) async throws -> String {
        try await Psql.run(
            "select string_agg(word || seq, ' ' order by seq, word) from message_words", conninfo: database)
    }

    private static let indexAll = "do $$ begin while (search_index(2)).looked > 0 loop end loop; end $$"

    /// The texts that Ann finds by a word.
    private static func found(_ word: String, _ database: String) async throws -> String {
        try await Psql.run(
            """
            select coalesce(string_agg((f.item::json -> 'message' -> 'payload' ->> 'text'), ' ' order by f.rank, f.item), '')
            from message_search('\(ann)', null, '\(word)', 30, null, null) f
            """, conninfo: database)
    }

    /// Runs SQL while a pass that has indexed everything has yet to commit.
    private static func duringPass(_ database: String, _ sql: String) async throws {
        async let pass = Psql.run("begin; select search_index(1000); \(Psql.sleep) commit;", conninfo: database)
        #expect(try await Psql.isAsleep(in: database))
        // Nothing here waits for the pass, which lasts 30 s unless it is woken.
        try await Psql.run("set lock_timeout = '1s'; " + sql, conninfo: database)
        try await Psql.wake(in: database)
        _ = try await pass
    }

    private static func message(_ text: String) -> String {
        "(select id from messages where payload ->> 'text' = '\(text)')"
    }

    @Test("has no word of a message that is deleted while a pass indexes it, and the deletion does not wait")
    func deletedMeanwhile() async throws {
        let database = try await Self.database()
        try await Self.append(["going", "staying"], to: database)
        try await Self.duringPass(
            database, "select message_delete('\(Self.ann)', '\(Self.thread)', \(Self.message("going")))")
        #expect(try await Self.found("going", database) == "")
        #expect(try await Self.found("staying", database) == "staying")
        try await Psql.run(Self.indexAll, conninfo: database)
        #expect(try await Self.words(database).replacing(/[0-9]/, with: "") == "staying")
        #expect(try await Psql.run("select count(*) from search_stale", conninfo: database) == "0")
    }

    @Test("has only the new words of a message that is edited while a pass indexes the old ones")
    func editedMeanwhile() async throws {
        let database = try await Self.database()
        try await Self.append(["common old", "staying"], to: database)
        let edit = { (old: String, new: String) in
            """
            select message_edit('\(Self.ann)', '\(Self.thread)', \(Self.message(old)), '{"text":"\(new)"}') is null;
            """
        }
        try await Self.duringPass(database, edit("common old", "common newer") + edit("common newer", "common last"))
        for word in ["old", "newer"] { #expect(try await Self.found(word, database) == "") }
        for word in ["common", "last"] { #expect(try await Self.found(word, database) == "common last") }
        try await Psql.run(Self.indexAll, conninfo: database)
        #expect(try await Self.words(database).replacing(/[0-9]/, with: "") == "common last staying")
        // Again with what is in the index now.
        try await Psql.run("update search_state set pos = 0", conninfo: database)
        try await Self.duringPass(database, edit("common last", "first"))
        #expect(try await Self.found("common", database) == "")
        try await Psql.run(Self.indexAll, conninfo: database)
        #expect(try await Self.words(database).replacing(/[0-9]/, with: "") == "first staying")
        #expect(try await Self.found("first", database) == "first")
    }

    @Test("a pass waits for a change that is under way, and indexes the changed message")
    func waitsForChanges() async throws {
        let database = try await Self.database()
        try await Self.append(["secret"], to: database)
        async let change = Psql.run(
            """
            begin; select message_edit('\(Self.ann)', '\(Self.thread)', \(Self.message("secret")), '{"text":"public"}');
            \(Psql.sleep) commit;
            """, conninfo: database)
        #expect(try await Psql.isAsleep(in: database))
        async let pass = Psql.run("select search_index(1000)", conninfo: database)
        #expect(try await Psql.isBlocked(in: database))
        try await Psql.wake(in: database)
        _ = try await (change, pass)
        #expect(try await Self.words(database).replacing(/[0-9]/, with: "") == "public")
    }

    @Test("has at most 2,000 words of a message, and a pass ends after a number of words")
    func boundsWords() async throws {
        let database = try await Self.database()
        let counts = try await Psql.run(
            """
            select count(a.outcome) from message_append(array(select gen_random_uuid() from generate_series(1, 5)),
                array_fill('\(Self.thread)'::uuid, array[5]), array_fill('\(Self.ann)'::uuid, array[5]),
                array_fill('x-long'::text, array[5]), array(select json_build_object('text',
                    (select string_agg('w' || n, ' ' order by n) from generate_series(1, 9000) n)) from generate_series(1, 5)),
                array_fill(null::uuid, array[5]), array_fill('{}'::text, array[5])) a;
            select looked > 2 from search_index(100, 3000);
            select count(distinct seq), count(*), max(word) from message_words;
            do $$ begin while (search_index(100, 1)).looked > 0 loop end loop; end $$;
            select count(distinct seq), count(*) from message_words;
            select count(*) from message_search('\(Self.ann)', null, 'w2000', 30, null, null);
            select count(*) from message_search('\(Self.ann)', null, 'w2001', 30, null, null);
            """, conninfo: database)
        #expect(counts.split(separator: "\n") == ["5", "t", "2|4000|w999", "5|10000", "5", "0"])
    }

    @Test("a search ends after its time with what it found, and its pages have each match exactly once")
    func endsInTime() async throws {
        let database = try await Self.database()
        // Not indexed, so that each message is read, which takes some 3 ms.
        try await Psql.run(
            """
            insert into messages (thread_id, seq, id, sender_id, type, payload, created_at, pos)
            select '\(Self.thread)', n, gen_random_uuid(), '\(Self.ann)', 'message', json_build_object('text',
                case when n % 50 = 0 then 'needle' || n else 'hay' end || repeat(' né edl', 1500)),
                date_trunc('second', now()) - (1000 - n) * interval '1 s', 1000 + n
            from generate_series(1, 1000) n
            """, conninfo: database)
        let pages = try await Psql.run(
            """
            create function all_pages(p_ms int, out numbers text, out pages int) language plpgsql as $$
            declare
                v_row record;
                v_rank bigint;
                v_id uuid;
                v_is_cut boolean := true;
            begin
                numbers := '';
                pages := 0;
                while v_is_cut and pages < 1000 loop
                    v_is_cut := false;
                    pages := pages + 1;
                    begin
                        for v_row in
                            select * from message_search('\(Self.ann)', null, 'needle', 1000, v_rank, v_id, p_ms)
                        loop
                            v_rank := v_row.rank;
                            v_id := v_row.id;
                            v_is_cut := v_row.item is null;
                            numbers := numbers || coalesce(substring(v_row.item from 'needle(\\d+)') || ' ', '');
                        end loop;
                    exception when query_canceled then
                        -- A busy machine may read not even one message in this time.
                        v_is_cut := true;
                        p_ms := 2 * p_ms;
                    end;
                end loop;
            end $$;
            select numbers, pages > 3 from all_pages(30);
            """, conninfo: database)
        let expected = stride(from: 1000, to: 0, by: -50).map { "\($0) " }.joined()
        #expect(pages == "\(expected)|t")
    }

    @Test("indexes older messages, a part at a time, and again under another configuration")
    func backlog() async throws {
        let database = try await Self.database()
        try await Self.append((1...5).map { "running \($0)" }, to: database)
        try await Psql.run(Self.indexAll, conninfo: database)
        let before = try await Self.words(database)
        #expect(before.contains("running"))
        try await Psql.run("select search_reset('simple')", conninfo: database)
        #expect(try await Self.words(database) == "")
        try await Psql.run(Self.indexAll, conninfo: database)
        #expect(try await Self.words(database) == before)
        try await Psql.run("select search_configure('english')", conninfo: database)
        try await Psql.run(Self.indexAll, conninfo: database)
        #expect(try await Self.words(database) == before.replacing("running", with: "run"))
    }

    @Test("starts again when the log was trimmed past it")
    func trimmed() async throws {
        let database = try await Self.database()
        try await Self.append(["early", "late"], to: database)
        try await Psql.run(
            """
            delete from events where pos < (select max(pos) from events);
            insert into log_trims (end_pos, partition, begun_at) select max(pos), 'x', now() from events;
            do $$ begin while (search_index(100)).looked > 0 loop end loop; end $$
            """, conninfo: database)
        #expect(try await Self.words(database).replacing(/[0-9]/, with: "") == "early late")
    }
}
