// New messages in the log: events are made from columns, ids are checked by an index, and its indexes hold hashes.
import Domain
import Postgres
import Store
import TestSupport
import Testing

@Suite("Messages in the log", .timeLimit(.minutes(2)))
struct MessagesInTheLog {
    /// Two threads with the same hash of 32 bits, found by trying, and their members: Ann in both, Ben in the first,
    /// Cat in the second. u, t and m make the ids of users, threads and messages; say appends one message.
    private static let people = """
        create function u(n int) returns uuid language sql immutable as $$
            select ('00000000-0000-0000-0002-' || lpad(n::text, 12, '0'))::uuid $$;
        create function t(n int) returns uuid language sql immutable as $$
            select ('00000000-0000-0000-0001-' || lpad(n::text, 12, '0'))::uuid $$;
        create function m(n int) returns uuid language sql immutable as $$
            select ('00000000-0000-0000-0003-' || lpad(n::text, 12, '0'))::uuid $$;
        create function first() returns uuid language sql immutable as $$ select t(6) $$;
        create function second() returns uuid language sql immutable as $$ select t(116420) $$;
        insert into users (id, username, username_key, name, profile_image, created_at)
        select u(n), 'u' || n, 'u' || n,
            (array['Ann "A" \\ ' || chr(9) || chr(1) || chr(127) || ' é ' || chr(128512), 'Ben', 'Cat', 'Dan'])[n],
            case when n = 2 then '/v1/pictures/2' end, now()
        from generate_series(1, 4) n;
        insert into threads (id, kind, title, created_at, member_count)
        select x, 'group', 'G', now(), 2 from unnest(array[first(), second()]) x;
        insert into members (thread_id, user_id, role, status, joined_at)
        values (first(), u(1), 'owner', 'joined', now()), (first(), u(2), 'member', 'joined', now()),
            (second(), u(1), 'owner', 'joined', now()), (second(), u(3), 'member', 'joined', now());
        insert into membership_spans (user_id, thread_id, from_pos) select user_id, thread_id, 0 from members;
        select from log_extend(14);
        create function say(id int, thread uuid, by int, words text = 'hi', reply int = null, mentions text = null,
            expires int = null) returns text language sql as $$
            select outcome from message_append(array[m(id)], array[thread], array[u(by)], array['message'],
                array[('{"text":' || to_json(words) || '}')::json], array[m(reply)], array[mentions], p_expires_s => array[expires]) $$;
        """

    private static func database() async throws -> String {
        let database = try await MigratedDatabase.create()
        _ = try await Psql.run(people, conninfo: database)
        return database
    }

    private func withStore<Result>(
        _ conninfo: String, _ body: (Store) async throws -> Result
    ) async throws -> Result {
        let client = PostgresClient(test: conninfo)
        let result = try await body(Store(client))
        await client.shutdown()
        return result
    }

    @Test("all readers of a new message get the bytes that the database's own functions make of it")
    func rendering() async throws {
        let database = try await Self.database()
        let expected = try await Psql.run(
            """
            select say(1, first(), 1, E'quotes " and \\\\ and \\n');
            select say(2, first(), 2, 'reply', 1, array[u(1), u(2)]::text);
            select say(3, first(), 1, 'short-lived', expires => 60);
            select system_message(log_begin(), stamp(), first(), '{"action": "joined"}');
            select event_json('message.created', x.thread_id, x.created_at, message_view(x))
            from messages x where x.thread_id = first() order by x.seq;
            """, conninfo: database
        ).split(separator: "\n").map(String.init).suffix(4)
        try await withStore(database) { store in
            let read = try await store.readLog(after: .start, limit: 10).events.map(\.body.string)
            #expect(read == Array(expected))
            let user = try #require(UserID(parsing: "00000000-0000-0000-0002-000000000001"))
            let cursor = Cursor(epoch: 1, position: .start)
            guard
                case .whole(let caughtUp, let head, let threads) = try await store.catchUp(
                    user, from: cursor, limit: 10, byteCountMax: 1 << 20)
            else {
                Issue.record("not everything")
                return
            }
            #expect(caughtUp.map(\.body.string) == Array(expected))
            #expect(head.position == Position(4) && threads.count == 2)
            guard case .part(let changes, _, _) = try await store.changes(after: cursor, limit: 10) else {
                Issue.record("expired")
                return
            }
            #expect(changes.map { #","data":\#($0.data.string)}"# }.elementsEqual(expected) { $1.hasSuffix($0) })
        }
    }

    @Test("a page of a cold read ends before its bound of bytes, which counts what clients get")
    func pages() async throws {
        let database = try await Self.database()
        _ = try await Psql.run("select say(n, first(), 1) from generate_series(1, 20) n", conninfo: database)
        let user = try #require(UserID(parsing: "00000000-0000-0000-0002-000000000002"))
        try await withStore(database) { store in
            var cursor = Cursor(epoch: 1, position: .start)
            var pages: [Int] = []
            while true {
                let found = try await store.catchUp(user, from: cursor, limit: 8, byteCountMax: 2_000)
                guard case .part(let events, let last) = found else {
                    guard case .whole(let rest, _, _) = found else { break }
                    pages.append(rest.count)
                    break
                }
                #expect(events.reduce(0) { $0 + $1.body.utf8.count } <= 2_000)
                pages.append(events.count)
                cursor = last
            }
            #expect(pages.reduce(0, +) == 20)
            #expect(pages.allSatisfy { (1...3).contains($0) }, "\(pages)")
        }
    }

    @Test("an id that is taken stops a batch that does not look, and nothing of it is stored")
    func unchecked() async throws {
        let database = try await Self.database()
        _ = try await Psql.run("select say(1, first(), 1)", conninfo: database)
        let thread = try #require(ThreadID(parsing: "00000000-0000-0000-0001-000000000006"))
        let sender = try #require(UserID(parsing: "00000000-0000-0000-0002-000000000001"))
        let stored = try #require(MessageID(parsing: "00000000-0000-0000-0003-000000000001"))
        let payload = JSONText(utf8: Array(#"{"text":"hi"}"#.utf8))
        let batch = [MessageID.make(), stored].map {
            NewMessage(id: $0, thread: thread, sender: sender, type: "message", payload: payload)
        }
        try await withStore(database) { store in
            func append(isChecked: Bool) async -> Result<Store.UndecodedBatch, Store.BatchFailure> {
                await withCheckedContinuation { continuation in
                    store.append(batch, known: [nil, nil], isChecked: isChecked) { continuation.resume(returning: $0) }
                }
            }
            guard case .failure(.idTaken) = await append(isChecked: false) else {
                Issue.record("the batch was stored")
                return
            }
            #expect(try await store.readLog(after: .start, limit: 10).events.count == 1)
            let (outcomes, written) = try Store.appended(try await append(isChecked: true).get(), batch)
            #expect(outcomes.map(\.word) == ["created", "exists"])
            #expect(written.events.map(\.position) == [Position(2)])
        }
    }

    @Test(
        "a message that is sent again is the stored one, whatever has happened to it or to its sender since",
        arguments: [
            "update members set blocked = true where thread_id = first() and user_id = u(1)",
            "update members set status = 'left' where thread_id = first() and user_id = u(1)",
            "select message_delete(u(1), first(), m(1))",
            "select message_tombstone(array(select x from messages x where x.id = m(1)), stamp(), null, 'expired')",
            "select message_edit(u(1), first(), m(1), '{\"text\": \"other words\"}')",
            "select account_erase(u(1), false)",
        ])
    func retries(after change: String) async throws {
        let database = try await Self.database()
        let found = try await Psql.run(
            """
            select say(1, first(), 1);
            \(change);
            select 'again ' || say(1, first(), 1);
            select 'rows ' || count(*) from messages x where x.thread_id = first() and x.id = m(1);
            select 'events ' || count(*) from events e where e.type = 'message.created' and e.seq = 1;
            do $$ begin
                perform message_append_new(array[m(1)], array[first()], array[u(1)], array['message'],
                    array['{"text": "hi"}'::json], array[null::uuid], null, null, '', null, null, null);
            exception when unique_violation then raise notice 'taken';
            end $$;
            """, conninfo: database)
        #expect(found.contains("again exists\nrows 1\nevents 1"), "\(found)")
        #expect(found.contains("taken"), "\(found)")
    }

    @Test("two threads with one hash: an id is taken for both, and marks, reads and events are apart")
    func collisions() async throws {
        let database = try await Self.database()
        let found = try await Psql.run(
            """
            select uuid_hash(first()) = uuid_hash(second());
            select say(1, first(), 1), say(1, second(), 1), say(1, second(), 4), say(2, second(), 1), say(3, second(), 1);
            -- Ann has sent three messages in the second thread, and one in the first.
            select thread_id, member_read_seq(x) from members x where user_id = u(1) order by thread_id;
            select count(*) from message_receipts(u(2), first(), m(1)) r where r.item is not null;
            select (message_find(second(), m(1))).seq is null, (message_find(first(), m(1))).seq;
            select e.thread_id, array_agg(e.pos) from unnest(sync_positions(u(3), 0, 100, 100)) p (pos)
            join events e using (pos) group by 1;
            select count(*) from account_messages(u(1), t(0), 0, 100);
            select count(*) from account_messages(u(1), first(), 0, 2);
            select count(*) from account_messages(u(1), second(), 1, 100);
            """, conninfo: database)
        #expect(
            found.hasSuffix(
                """
                t
                created|conflict|no_thread|created|created
                00000000-0000-0000-0001-000000000006|1
                00000000-0000-0000-0001-000000116420|2
                0
                t|1
                00000000-0000-0000-0001-000000116420|{2,3}
                3
                2
                1
                """), "\(found)")
    }
}
