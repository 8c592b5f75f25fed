// The lines of archives: what each part has, and in which order.
import Domain
import Foundation
import Store
import TestSupport
import Testing

@Suite("Reading archives", .timeLimit(.minutes(1)))
struct ReadingArchives {
    /// A message as a system message's sender sees it: only messages of people.
    private static func ofPeople(_ lines: ArchivedLines) -> [JSONValue] {
        lines[.messages].filter { $0["type"]?.string == "message" }
    }

    @Test("accounts: all that is stored of them but passwords; nothing of an erased one but its name")
    func accounts() async throws {
        try await AttachmentDatabase.run { database in
            let (ann, ben, cat) = (try await database.user(), try await database.user(), try await database.user())
            try await database.sql(
                """
                update users set status_text = 'here', email = 'A@x.example', external_id = 'e-1',
                    preferences = '{"a":null,"b":[1]}', is_bot = true, suspended_at = now() where id = '\(ann)';
                """)
            try await database.store.putBlock(of: ben, by: ann, isBlocked: true)
            _ = try await database.store.eraseAccount(cat, erasesMessages: false)
            let lines = try await ArchivedLines(of: database)
            let users = lines[.users]
            #expect(lines.values("id", in: .users) == [ann, ben, cat].map(\.description).sorted())
            let first = try #require(users.first { $0["id"]?.string == ann.description })
            #expect(first["preferences"] == .object([.init("a", .null), .init("b", .array([.integer(1)]))]))
            #expect(first["email"]?.string == "A@x.example" && first["external_id"]?.string == "e-1")
            #expect(first["kind"]?.string == "bot" && first["suspended"] == .bool(true))
            #expect(first["status_text"]?.string == "here" && first["username"]?.string == ann.description)
            let erased = try #require(users.first { $0["id"]?.string == cat.description })
            #expect(erased.object?.map(\.key) == ["id", "name", "created_at", "erased"])
            #expect(lines[.blocks].map { $0["blocked_id"]?.string } == [ben.description])
            #expect(!"\(lines.parts)".contains("password"))
        }
    }

    @Test("threads of all kinds, and members of all states with their marks")
    func threads() async throws {
        try await AttachmentDatabase.run { database in
            let (ann, ben, cat) = (try await database.user(), try await database.user(), try await database.user())
            let group = try await database.thread(of: ann, [ben])
            let direct = try await database.thread(.direct, of: ann, [ben])
            let room = try await database.thread(.room, of: cat, [])
            let invitations = try await database.thread(of: ann, [ben], invite: true)
            _ = try await database.store.deleteMember(ben, in: group, by: ben)
            let message = try await database.send([], to: direct, by: ann)
            try await database.sql(
                "select receipt_put(array['\(ben)'::uuid], array['\(direct)'::uuid], array[1], array[1])")
            try await database.sql(
                """
                update members set muted_until = '2030-01-01', pinned = true, notify = 'none'
                where thread_id = '\(direct)';
                update threads set keep_s = 86400, topic = 'Talk' where id = '\(group)';
                """)
            let lines = try await ArchivedLines(of: database)
            let ids = [group, direct, room, invitations].map(\.description).sorted()
            #expect(lines.values("id", in: .threads) == ids)
            let pair = try #require(lines[.threads].first { $0["kind"]?.string == "direct" })["user_ids"]?.array
            #expect(pair?.compactMap(\.string) == [ann, ben].map(\.description).sorted())
            let kept = try #require(lines[.threads].first { $0["id"]?.string == group.description })
            #expect(kept["retention"]?["seconds"]?.integer == 86_400 && kept["topic"]?.string == "Talk")
            func member(_ user: UserID, _ thread: ThreadID) -> JSONValue? {
                lines[.members].first {
                    $0["user_id"]?.string == user.description && $0["thread_id"]?.string == thread.description
                }
            }
            #expect(member(ben, group)?["status"]?.string == "left")
            #expect(member(ben, invitations)?["status"]?.string == "invited")
            #expect(member(ben, invitations)?["invited_by"]?.string == ann.description)
            #expect(member(ann, group)?["role"]?.string == "owner")
            let marked = try #require(member(ben, direct))
            #expect(marked["read_seq"]?.integer == 1 && marked["delivered_seq"]?.integer == 1)
            #expect(marked["pinned"] == .bool(true) && marked["archived"] == nil)
            #expect(marked["notify"]?.string == "none")
            #expect(member(ann, group)?["notify"] == nil)
            #expect(marked["muted_until"]?.string == "2030-01-01T00:00:00.000Z")
            #expect(lines.values("kind", in: .receipts) == ["delivered", "read"])
            #expect(Self.ofPeople(lines).map { $0["id"]?.string } == [message.description])
        }
    }

    @Test("messages with their earlier versions, reactions and hides; deleted ones without content")
    func messages() async throws {
        try await AttachmentDatabase.run { database in
            let (ann, ben) = (try await database.user(), try await database.user())
            let thread = try await database.thread(of: ann, [ben])
            let (edited, deleted) = (
                try await database.send([], to: thread, by: ann), try await database.send([], to: thread, by: ann)
            )
            let hidden = try await database.send([], to: thread, by: ben)
            try await database.sql(
                """
                select message_edit('\(ann)', '\(thread)', '\(edited)', '{"text":"later","x":null}');
                select reaction_put('\(ben)', '\(thread)', '\(edited)', '👍', 20);
                select reaction_put('\(ben)', '\(thread)', '\(deleted)', '👍', 20);
                select message_delete('\(ann)', '\(thread)', '\(deleted)');
                select message_hide('\(ann)', '\(thread)', '\(hidden)');
                """)
            let lines = try await ArchivedLines(of: database)
            let messages = Self.ofPeople(lines)
            #expect(messages.map { $0["id"]?.string } == [edited, deleted, hidden].map(\.description))
            let seqs = lines[.messages].compactMap { $0["seq"]?.integer }
            #expect(seqs == Array(1...Int64(seqs.count)))
            #expect(messages[0]["payload"] == .object([.init("text", .string("later")), .init("x", .null)]))
            #expect(messages[0]["edited_at"] != nil && messages[0]["deleted_at"] == nil)
            #expect(messages[1]["payload"] == nil && messages[1]["deleted_at"] != nil)
            #expect(messages[1]["sender_id"]?.string == ann.description)
            let version = try #require(lines[.versions].first)
            #expect(lines[.versions].count == 1 && version["message_id"]?.string == edited.description)
            #expect(version["payload"]?["text"]?.string == "hi" && version["version"]?.integer == 0)
            #expect(lines.values("message_id", in: .reactions) == [edited.description])
            #expect(lines.values("emoji", in: .reactions) == ["👍"])
            #expect(lines.values("message_id", in: .hidden) == [hidden.description])
            #expect(lines.values("user_id", in: .hidden) == [ann.description])
        }
    }

    @Test("the content of expired messages is not in the archive")
    func expired() async throws {
        try await AttachmentDatabase.run { database in
            let ann = try await database.user()
            let thread = try await database.thread(of: ann)
            try await database.send([], to: thread, by: ann, text: "secret")
            try await database.sql("update messages set payload = null, expires_at = now() where type = 'message'")
            let message = try #require(Self.ofPeople(try await ArchivedLines(of: database)).first)
            #expect(message["payload"] == nil && message["deleted_at"] == nil && message["expires_at"] != nil)
        }
    }

    @Test("attachments that something uses, with both variants; no others")
    func attachments() async throws {
        try await AttachmentDatabase.run { database in
            let (ann, ben) = (try await database.user(), try await database.user())
            let thread = try await database.thread(of: ann, [ben])
            let bytes = [UInt8](repeating: 7, count: 600_000)
            let (sent, dropped) = (
                try await database.attachment(of: ann, bytes), try await database.attachment(of: ann)
            )
            let image = try await database.attachment(of: ben)
            _ = try await database.attachment(of: ann)
            _ = try await database.uploaded(bytes, by: ann)
            try await database.send([sent], to: thread, by: ann)
            let message = try await database.send([dropped], to: thread, by: ann)
            try await database.sql(
                """
                select message_edit('\(ann)', '\(thread)', '\(message)', '{"text":"none"}');
                update attachments set due_at = null where id = '\(image)';
                insert into attachment_uses (attachment_id, kind, holder_id) values ('\(image)', 'profile', '\(ben)');
                update attachments set thumbnail_type = 'image/png', thumbnail_size = 3, thumbnail_digest = '\\x01'
                    where id = '\(sent)';
                insert into attachment_chunks values ('\(sent)', 1, 0, '\\x010203');
                """)
            let reader = ArchivedLines.reader(database.conninfo, ArchiveScope())
            _ = try await reader.begin()
            let lines = try await ArchivedLines(reader)
            #expect(lines.values("id", in: .attachments) == [sent, dropped, image].map(\.description).sorted())
            let line = try #require(lines[.attachments].first { $0["id"]?.string == sent.description })
            #expect(line["size"]?.integer == 600_000 && line["sha256"]?.string == "02")
            #expect(line["thumbnail"]?["size"]?.integer == 3 && line["thumbnail"]?["own"] == .bool(false))
            let files = lines.files.filter { $0.attachment == sent }
            #expect(files.map(\.variant) == [.original, .thumbnail] && files.map(\.byteCount) == [600_000, 3])
            var stored: [UInt8] = []
            for number in 0..<3 { stored += try await reader.chunk(number, of: files[0]) }
            #expect(stored == bytes)
            #expect(try await reader.chunk(0, of: files[1]) == [1, 2, 3])
            await #expect(throws: Problem.self) { try await reader.chunk(3, of: files[0]) }
            await reader.close()
        }
    }

    @Test("a page has about a mebibyte and at most a thousand lines; no line is missing between pages")
    func pages() async throws {
        try await AttachmentDatabase.run { database in
            let ann = try await database.user()
            let (short, long) = (try await database.thread(of: ann), try await database.thread(of: ann))
            try await database.sql(
                """
                insert into messages (thread_id, seq, id, sender_id, type, payload, created_at, pos)
                select t.id, 100 + n, gen_random_uuid(), '\(ann)', 'message',
                    json_build_object('text', repeat('x', t.size)), now(), n
                from (values ('\(short)'::uuid, 1, 2500), ('\(long)', 60000, 40)) t (id, size, count)
                cross join lateral generate_series(1, t.count) n;
                """)
            let lines = try await ArchivedLines(of: database)
            let keys = Self.ofPeople(lines).map { "\($0["thread_id"]?.string ?? "") \($0["seq"]?.integer ?? 0)" }
            let expected = [(short, 2500), (long, 40)].sorted { "\($0.0)" < "\($1.0)" }
                .flatMap { thread, count in (1...count).map { "\(thread) \(100 + $0)" } }
            #expect(keys == expected)
            #expect(lines.pageByteCounts.max() ?? 0 < 1_048_576 + 65_536)
            // Three pages of short messages and three of long ones; a page of people and one of threads.
            #expect(lines.pageByteCounts.count >= 8)
        }
    }
}
