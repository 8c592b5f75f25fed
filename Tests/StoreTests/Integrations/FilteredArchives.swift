// The filters of archives, and the snapshot that all parts are from.
import Domain
import Foundation
import Postgres
import Store
import TestSupport
import Testing

@Suite("Filtered archives", .timeLimit(.minutes(1)))
struct FilteredArchives {
    /// Two people with a thread each and one together, and a forwarded file.
    private struct Scene {
        let ann: UserID
        let ben: UserID
        let own: ThreadID
        let shared: ThreadID
        let file: AttachmentID

        init(_ database: AttachmentDatabase) async throws {
            (ann, ben) = (try await database.user(), try await database.user())
            let cat = try await database.user()
            own = try await database.thread(of: cat)
            shared = try await database.thread(of: ann, [ben])
            file = try await database.attachment(of: ben)
            try await database.send([file], to: shared, by: ben)
            try await database.send([], to: shared, by: ann)
            try await database.send([], to: own, by: cat)
            try await database.sql(
                """
                select reaction_put('\(ben)', '\(shared)', (select id from messages where sender_id = '\(ann)'), '👍', 20);
                select receipt_put(array['\(ann)'::uuid, '\(ben)'], array['\(shared)'::uuid, '\(shared)'], array[2, 2],
                    array[2, 2]);
                """)
        }
    }

    @Test("of an account: its threads with all members, what it sent, and everybody who is named there")
    func ofAnAccount() async throws {
        try await AttachmentDatabase.run { database in
            let scene = try await Scene(database)
            let lines = try await ArchivedLines(of: database, ArchiveScope(user: scene.ann))
            #expect(lines.values("id", in: .users) == [scene.ann, scene.ben].map(\.description).sorted())
            #expect(lines.values("id", in: .threads) == [scene.shared.description])
            #expect(lines[.members].count == 2 && lines[.attachments].isEmpty)
            #expect(Set(lines.values("sender_id", in: .messages)) == [scene.ann.description])
            #expect(lines.values("user_id", in: .reactions) == [scene.ben.description])
            let other = try await ArchivedLines(of: database, ArchiveScope(user: scene.ben))
            #expect(Set(other.values("user_id", in: .receipts)) == [scene.ben.description])
            #expect(other.values("id", in: .attachments) == [scene.file.description])
        }
    }

    @Test("of a thread: all in it, and nothing else")
    func ofAThread() async throws {
        try await AttachmentDatabase.run { database in
            let scene = try await Scene(database)
            try await database.store.putBlock(of: scene.ben, by: scene.ann, isBlocked: true)
            let lines = try await ArchivedLines(of: database, ArchiveScope(thread: scene.shared))
            #expect(lines.values("id", in: .users) == [scene.ann, scene.ben].map(\.description).sorted())
            #expect(lines.values("id", in: .threads) == [scene.shared.description])
            #expect(Set(lines.values("sender_id", in: .messages)) == [scene.ann.description, scene.ben.description])
            #expect(lines.values("id", in: .attachments) == [scene.file.description] && lines[.blocks].isEmpty)
            let both = try await ArchivedLines(of: database, ArchiveScope(user: scene.ann, thread: scene.own))
            #expect(both[.threads].isEmpty && both[.messages].isEmpty)
            #expect(both.values("id", in: .users) == [scene.ann.description])
        }
    }

    @Test("of a time span: from its first moment, until before its last one, for any times of the messages")
    func ofATimeSpan() async throws {
        try await AttachmentDatabase.run { database in
            let ann = try await database.user()
            let thread = try await database.thread(of: ann)
            // Several messages have the same time.
            try await database.sql(
                """
                delete from messages;
                insert into messages (thread_id, seq, id, sender_id, type, payload, created_at, pos)
                select '\(thread)', n, gen_random_uuid(), '\(ann)', 'message', '{"text":"hi"}',
                    '2026-01-01'::timestamptz + n / 3 * interval '1 second', n
                from generate_series(1, 20) n;
                """)
            let start = try #require(Timestamp(parsing: "2026-01-01T00:00:00Z"))
            func seqs(_ since: Int64?, _ until: Int64?) async throws -> [Int64] {
                func time(_ seconds: Int64?) -> Timestamp? {
                    seconds.map { Timestamp(microsSince1970: start.microsSince1970 + $0 * 1_000_000) }
                }
                let scope = ArchiveScope(since: time(since), until: time(until))
                return try await ArchivedLines(of: database, scope)[.messages].compactMap { $0["seq"]?.integer }
            }
            for since in [nil, -1, 0, 1, 3, 6, 7] as [Int64?] {
                for until in [nil, -1, 0, 1, 4, 6, 7] as [Int64?] {
                    let expected = (1...20).filter { Int64($0 / 3) >= since ?? -9 && Int64($0 / 3) < until ?? 99 }
                    #expect(try await seqs(since, until) == expected.map(Int64.init), "\(since ?? -9) \(until ?? 99)")
                }
            }
            let empty = try await ArchivedLines(of: database, ArchiveScope(until: start))
            #expect(empty[.users].count == 1 && empty[.threads].count == 1 && empty[.members].count == 1)
        }
    }

    @Test("unknown accounts and threads are refused")
    func unknown() async throws {
        try await AttachmentDatabase.run { database in
            for (scope, code) in [
                (ArchiveScope(user: .make()), ProblemCode.userNotFound),
                (ArchiveScope(thread: .make()), .threadNotFound),
            ] {
                let reader = ArchivedLines.reader(database.conninfo, scope)
                let problem = await #expect(throws: Problem.self) { try await reader.begin() }
                #expect(problem?.code == code)
                await reader.close()
            }
        }
    }

    @Test("all parts are of the moment at which the archive began, and two archives have the same lines")
    func snapshot() async throws {
        try await AttachmentDatabase.run { database in
            let scene = try await Scene(database)
            let reader = ArchivedLines.reader(database.conninfo, ArchiveScope())
            _ = try await reader.begin()
            let before = try await ArchivedLines(of: database)
            try await database.send([], to: scene.shared, by: scene.ann, text: "later")
            _ = try await database.thread(of: scene.ann)
            let lines = try await ArchivedLines(reader)
            #expect(lines.parts == before.parts)
            await reader.close()
        }
    }

    @Test("a connection that is lost ends the archive with an error")
    func lostConnection() async throws {
        try await AttachmentDatabase.run { database in
            _ = try await Scene(database)
            let reader = ArchivedLines.reader(database.conninfo, ArchiveScope())
            _ = try await reader.begin()
            try await reader.open(.messages)
            try await database.sql(
                """
                select pg_terminate_backend(pid, 5000) from pg_stat_activity
                where application_name = 'parley-test-archive' and datname = current_database()
                """)
            await #expect(throws: Problem.self) { try await reader.next() }
            // A new connection has no transaction, and so no cursor.
            try await reader.open(.messages)
            await #expect(throws: Problem.self) { try await reader.next() }
            await reader.close()
        }
    }
}
