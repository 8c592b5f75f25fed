// The index of words: that it has what it should when messages go while it is made, and what was there before it.
import Postgres
import Store
import TestSupport
import Testing

@Suite("The search index")
struct SearchIndexTests {
    private static let ann = "00000000-0000-0000-0000-00000000000a"
    private static let thread = "00000000-0000-0000-0000-00000000000b"

    /// A database with a group of Ann's.
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

    @Test("has nothing of a message that is deleted while a pass puts it in")
    func deletedMeanwhile() async throws {
        let database = try await Self.database()
        try await Self.append(["going", "staying"], to: database)
        let seqs = try await Psql.run("select min(seq), max(seq) from messages", conninfo: database).split(
            separator: "|")
        async let pass = Psql.run(
            "begin; select search_index(1000); \(Psql.sleep) commit;", conninfo: database)
        #expect(try await Psql.isAsleep(in: database))
        async let deletion = Psql.run(
            """
            select message_delete('\(Self.ann)', '\(Self.thread)',
                (select id from messages where payload ->> 'text' = 'going'))
            """, conninfo: database)
        #expect(try await Psql.isBlocked(in: database))
        try await Psql.wake(in: database)
        _ = try await (pass, deletion)
        #expect(try await Self.words(database) == "staying\(seqs[1])")
    }

    @Test("takes in what was there before it, a part at a time, and again under another configuration")
    func backlog() async throws {
        let database = try await Self.database()
        try await Self.append((1...5).map { "running \($0)" }, to: database)
        let indexAll = "do $$ begin while (search_index(2)).looked > 0 loop end loop; end $$"
        try await Psql.run(indexAll, conninfo: database)
        let before = try await Self.words(database)
        #expect(before.contains("running"))
        try await Psql.run("select search_reset('simple')", conninfo: database)
        #expect(try await Self.words(database) == "")
        try await Psql.run(indexAll, conninfo: database)
        #expect(try await Self.words(database) == before)
        try await Psql.run("select search_configure('english')", conninfo: database)
        try await Psql.run(indexAll, conninfo: database)
        #expect(try await Self.words(database) == before.replacing("running", with: "run"))
    }

    @Test("is made anew when the log has been trimmed beyond it")
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
