// Which messages run a command, which node gets them, and what it records.
import Domain
import Postgres
import Store
import TestSupport
import Testing

@Suite("Finding commands in the log", .timeLimit(.minutes(1)))
struct FindingCommands {
    private let database: String
    private let store: Store
    private let client: PostgresClient
    private let actor = AdminActor(name: "admin", requestID: nil)

    /// Users 1 and 2, the bot 3; group 1001 and direct thread 1002 of users 1 and 2.
    private static let ground =
        Psql.users(3) + """
            update users set is_bot = true where id = p(3);
            select from thread_create(p(1001), 'group', 'G', null, p(1), array[p(2), p(3)], false);
            select from thread_create(p(1002), 'direct', null, null, p(1), array[p(2)], false);
            create function say(id int, words text, thread int default 1001, by int default 1, kind text default 'message')
            returns text language sql as $$
                select outcome from message_append(array[p(id)], array[p(thread)], array[p(by)], array[kind],
                    array[json_build_object('text', words)], array[null]::uuid[], array['{}']) $$;
            """

    init() async throws {
        database = try await MigratedDatabase.create()
        try await Psql.run(Self.ground, conninfo: database)
        client = PostgresClient(test: database)
        store = Store(client)
    }

    private func make(_ word: String, in thread: ThreadID? = nil) async throws -> CommandID {
        let new = NewCommand(
            word: try CommandWord(text: word), url: "https://a.example/", thread: thread,
            secret: Array(repeating: 7, count: 32))
        _ = try await store.createCommand(new, countMax: 100, by: actor)
        return new.id
    }

    @discardableResult
    private func sql(_ query: String) async throws -> String {
        try await Psql.run(query, conninfo: database)
    }

    private func step(_ limit: Int = 64, waitingMax: Int = 1_000) async throws -> [CommandRun] {
        try await store.stepCommands(limit: limit, waitingMax: waitingMax)
    }

    private func id<Kind>(_ number: Int) throws -> Identifier<Kind> {
        try #require(Identifier(parsing: "00000000-0000-0000-0000-" + String(1_000_000_000_000 + number).dropFirst()))
    }

    private func settle(_ run: CommandRun, _ text: String?, goneURL: String? = nil) async throws -> Bool {
        try await store.settleCommandRun(
            run.key, reply: MessageID(digest: Array("\(run.key.message)".utf8.reversed())),
            payload: text.map { JSONText(.object([.init("text", .string($0))])) }, goneURL: goneURL)
    }

    @Test("accepts messages of people that begin with the word, sent after the command was created")
    func finds() async throws {
        #expect(try await step().isEmpty)
        try await sql("select say(1, '/echo before')")
        let echo = try await make("/echo")
        _ = try await make("/local", in: try id(1002))
        try await sql(
            """
            select say(2, '/echo  a  b '), say(3, '/echo'), say(4, '/echox'), say(5, E'/echo\\nc'), say(6, ' /echo'),
                say(7, '/local d'), say(8, '/local e', 1002), say(9, '/echo f', 1002, 2), say(10, '/ECHO'),
                say(11, '/echo bot', 1001, 3), say(12, '/echo', 1001, 1, 'encrypted'), say(13, '/echo', 1001, 1, 'x-a'),
                say(14, '/echo\u{a0}g');
            select from message_edit(p(1), p(1001), p(3), '{"text":"edited"}');
            select from message_edit(p(1), p(1001), p(4), '{"text":"/echo edited"}');
            """)
        let runs = try await step()
        #expect(
            runs.map { "\($0.word) \($0.key.message.description.suffix(2)) [\($0.arguments)]" }.sorted() == [
                "/echo 02 [a  b]", "/echo 03 []", "/echo 05 [c]", "/echo 09 [f]", "/echo 14 [g]", "/local 08 [e]",
            ])
        #expect(runs.allSatisfy { $0.tryCount == 0 && $0.refusal == nil && $0.key.claim == 1 })
        let edited = try #require(runs.first { $0.arguments.isEmpty })
        #expect(String(decoding: edited.message.utf8, as: UTF8.self).contains("/echo"))
        #expect(try await step().isEmpty)
        #expect(try await sql("select count(*) from command_runs where command_id = '\(echo)'") == "5")
        await client.shutdown()
    }

    @Test("posts one reply, by the node with the latest claim")
    func settles() async throws {
        let echo = try await make("/echo")
        try await sql("select say(2, '/echo a', 1002)")
        let first = try #require(try await step().first)
        // The lease ends, another node claims it.
        try await sql("update command_runs set due_at = now()")
        let second = try #require(try await step().first)
        #expect(second.key.claim == 2 && second.event == first.event)
        #expect(try await !settle(first, "late"))
        #expect(try await settle(second, "done"))
        #expect(try await !settle(second, "again"))
        let reply = try await sql(
            """
            select concat_ws(' ', m.seq, m.reply_to = p(2), u.is_bot, m.payload, e.type, e.actor_id = u.id)
            from messages m join users u on u.id = m.sender_id join events e on e.pos = m.pos
            where m.thread_id = p(1002) and m.seq = 2
            """)
        #expect(reply == #"2 t t {"text":"done"} message.created t"#)
        // A row that came back from a backup does not bring a second reply.
        try await sql(
            """
            insert into command_runs (command_id, thread_id, message_id, user_id, event_id, due_at)
            values ('\(echo)', p(1002), p(2), p(1), 'evt_0_1_1', now())
            """)
        #expect(try await settle(try #require(try await step().first), "twice"))
        #expect(try await sql("select count(*) from messages where thread_id = p(1002)") == "2")
        // The bot's text does not run the command.
        #expect(try await step().isEmpty)
        await client.shutdown()
    }

    @Test("postpones a run, with its tries, and leases eight of a command at a time, and of a person at most four")
    func bounds() async throws {
        _ = try await make("/slow")
        _ = try await make("/fast")
        // Ann floods the slow command before Ben uses it once.
        try await sql("select say(n, '/slow') from generate_series(2, 21) n; select say(30, '/fast')")
        try await sql("select say(40, '/slow', 1001, 2)")
        #expect(try await step(3).map(\.key.message).contains(try id(40)))
        let runs = try await step()
        #expect(runs.count == 3 && runs.allSatisfy { $0.word == "/slow" })
        try await sql("select say(n, '/slow', 1001, 2) from generate_series(41, 60) n")
        #expect(try await step().count == 3)
        #expect(try await step().isEmpty)
        let slow = try #require(runs.first { $0.word == "/slow" })
        #expect(try await store.putOffCommandRun(slow.key, waitMs: 60_000, isTried: true))
        #expect(try await !store.putOffCommandRun(slow.key, waitMs: 0, isTried: true))
        #expect(try await step().map(\.tryCount) == [0])
        try await sql(
            "update command_runs set is_running = false; update command_runs set due_at = '-infinity' where tries = 1")
        let again = try await step(1)
        #expect(again.map(\.key.message) == [slow.key.message])
        #expect(again.first?.tryCount == 1 && again.first?.key.claim == slow.key.claim + 2)
        await client.shutdown()
    }

    @Test("refuses what is too much, and what waits for a disabled command")
    func refusals() async throws {
        let echo = try await make("/echo")
        try await sql("select say(2, '/echo')")
        #expect(try await step().map(\.refusal) == [nil])
        try await sql("select say(3, '/echo')")
        #expect(try await step(waitingMax: 1).map(\.refusal) == [.busy])
        try await sql("update command_runs set is_running = false, due_at = now() + interval '1 h'")
        _ = try await store.updateCommand(echo, CommandChange(isEnabled: false), by: actor)
        #expect(try await step().map(\.refusal) == [.disabled, .disabled])
        // Messages meanwhile do not run it, nor after it is enabled again.
        try await sql("select say(4, '/echo'); delete from command_runs")
        #expect(try await step().isEmpty)
        _ = try await store.updateCommand(echo, CommandChange(isEnabled: true), by: actor)
        try await sql("select say(5, '/echo')")
        let run = try #require(try await step().first)
        #expect(run.key.message == (try id(5)))
        // A 410 of an address that the command no longer has: its present one is called at once, and nothing is posted.
        #expect(try await settle(run, "gone", goneURL: "https://former.example/"))
        #expect(try await sql("select count(*) from messages where sender_id <> p(1)") == "0")
        let again = try #require(try await step().first)
        #expect(again.key.message == run.key.message && again.key.claim > run.key.claim && again.tryCount == 0)
        #expect(try await settle(again, nil, goneURL: again.target.url))
        #expect(try await sql("select is_enabled || disabled_reason from commands") == "falsegone")
        await client.shutdown()
    }

    @Test("drops runs of deleted messages, suspended bots, erased people and deleted commands")
    func drops() async throws {
        let echo = try await make("/echo")
        try await sql("select say(2, '/echo'); select from message_delete(p(1), p(1001), p(2))")
        #expect(try await step().isEmpty)
        try await sql("select say(3, '/echo')")
        #expect(try await step().count == 1)
        try await sql(
            """
            update command_runs set due_at = now();
            update users set suspended_at = now() where id = (select user_id from commands);
            """)
        #expect(try await step().isEmpty)
        #expect(try await sql("select count(*) from command_runs") == "0")
        try await sql("update users set suspended_at = null; select say(4, '/echo', 1001, 2)")
        let run = try #require(try await step().first)
        try await sql("select from account_erase(p(2), false)")
        #expect(try await !settle(run, "x"))
        try await sql("select say(5, '/echo')")
        #expect(try await step().count == 1)
        try await store.deleteCommand(echo, by: actor)
        #expect(try await sql("select count(*) from command_runs") == "0")
        await client.shutdown()
    }

    @Test("withdraws the replies of an erased bot, which is a member of nothing, and leaves blocks alone")
    func erasure() async throws {
        _ = try await make("/echo")
        try await sql("select say(2, '/echo', 1002); select from block_put(p(1), p(2), true)")
        #expect(try await settle(try #require(try await step().first), "reply"))
        let blocked = try await sql("select count(*) from members where blocked or blocks")
        try await sql("select from account_erase((select user_id from commands), true)")
        try await sql("delete from announcements; update erasure_threads set at = now()")
        for _ in 0..<20 { try await sql("select from erasure_sweep(100)") }
        #expect(try await sql("select payload is null from messages where reply_to = p(2)") == "t")
        #expect(try await sql("select count(*) from commands") == "0")
        #expect(try await sql("select count(*) from members where blocked or blocks") == blocked)
        await client.shutdown()
    }

    @Test("continues after the log has lost its tail or was trimmed")
    func restores() async throws {
        _ = try await make("/echo")
        try await sql("select say(2, '/echo')")
        #expect(try await step().count == 1)
        // As after a failover: the log ends earlier, and writes open a new epoch.
        try await sql(
            """
            delete from command_runs;
            update command_state set pos = pos + 100;
            update commands set since_pos = since_pos + 100;
            """)
        #expect(try await step().isEmpty)
        try await sql("select say(3, '/echo')")
        #expect(try await step().map(\.key.message) == [try id(3)])
        await client.shutdown()
    }
}
