import Archives
// What an import writes to the database, table by table.
import Domain
import Logging
import Postgres
import Store
import TestSupport
import Testing

@Suite("An archive in the database", .timeLimit(.minutes(1)))
struct ApplyingArchives {
    /// A new database with one archive, or more.
    private struct Stage {
        let database: String
        let client: PostgresClient
        var limits = Limits()

        init() async throws {
            database = try await MigratedDatabase.create()
            client = PostgresClient(test: database, logger: Logger(label: "test"))
        }

        func apply(_ text: String, isDryRun: Bool = false, pieceByteCount: Int = 1_000) async throws -> JSONValue {
            let store = Store(client)
            let run = ImportRun(
                store: store, limits: limits, isDryRun: isDryRun, actor: AdminActor(name: "test", requestID: nil),
                metrics: ImportMetrics())
            let place = try await store.beginImport()
            var rest = Array(text.utf8)[...]
            try await run.stage(from: place) {
                defer { rest = rest.dropFirst(pieceByteCount) }
                return rest.isEmpty ? nil : Array(rest.prefix(pieceByteCount))
            }
            return try JSONReader.read(try await run.finish(place.id).utf8)
        }

        func rows(_ sql: String) async throws -> String { try await Psql.run(sql, conninfo: database) }
    }

    @Test("has rows in every table that depends on members and messages")
    func tables() async throws {
        let stage = try await Stage()
        let archive = SampleArchive()
        _ = try await stage.apply(archive.text)
        // Of Ann in three threads, Bob in two (he left one), the bot in one.
        #expect(try await stage.rows("select count from thread_counts order by count") == "1\n2\n3")
        #expect(try await stage.rows("select sum(member_count) from threads") == "6")
        #expect(try await stage.rows("select count(*) from membership_spans where to_pos is null") == "6")
        #expect(
            try await stage.rows(
                "select count(*), count(begins), count(distinct pos), max(pos) from events where type = 'thread.created'"
            )
                == "9|6|9|9")
        #expect(try await stage.rows("select count(*) from events where type <> 'thread.created'") == "0")
        #expect(try await stage.rows("select sum(upto_seq) from search_backlog") == "6")
        #expect(
            try await stage.rows("select string_agg(role, ',' order by role) from members where status = 'joined'")
                == "member,member,member,owner,owner,owner")
        #expect(try await stage.rows("select kind, seq from receipt_marks") == "read|2")
        #expect(try await stage.rows("select kind, seq, is_current from attachment_uses") == "message|1|t")
        #expect(try await stage.rows("select state, due_at is null, stored_bytes from attachments") == "2|t|19")
        #expect(
            try await stage.rows("select n, convert_from(data, 'UTF8') from attachment_chunks")
                == "0|the bytes of a file")
        #expect(try await stage.rows("select seq, emoji, count from message_reaction_counts") == "2|👍|1")
        #expect(try await stage.rows("select string_agg(seq::text, ',') from messages where reacted") == "2")
        #expect(try await stage.rows("select seq, version from message_edits") == "2|0")
        #expect(try await stage.rows("select seq from message_hides") == "5")
        let flags = try await stage.rows(
            "select hides, is_bot is true from members where hides or is_bot order by hides")
        #expect(flags == "f|t\nt|f")
        #expect(try await stage.rows("select count(*) from user_words") != "0")
        #expect(try await stage.rows("select action, actor from audit") == "import|test")
        for table in ["imports", "import_users", "import_messages", "import_chunks", "import_members"] {
            #expect(try await stage.rows("select count(*) from \(table)") == "0", "\(table)")
        }
    }

    @Test("is the same after a second import in the same session, and after a dry run")
    func repeated() async throws {
        let stage = try await Stage()
        let archive = SampleArchive()
        let dry = try await stage.apply(archive.text, isDryRun: true)
        #expect(try await stage.rows("select count(*) from users") == "0")
        let first = try await stage.apply(archive.text)
        #expect(dry["added"] == first["added"])
        let before = try await stage.rows("select log_head()")
        for _ in 1...3 {
            let again = try await stage.apply(archive.text)
            #expect(again["existing"] == first["added"], "\(again)")
        }
        #expect(try await stage.rows("select log_head()") == before)
        #expect(try await stage.rows("select count(*) from audit") == "1")
    }

    @Test("has no content that has expired, by itself or by the service's retention")
    func expired() async throws {
        var stage = try await Stage()
        let archive = SampleArchive()
        func message(_ more: String) -> String {
            SampleArchive.line(
                "message",
                #""id":"\#(MessageID.make())","thread_id":"\#(archive.room)","sender_id":"\#(archive.ann)""#
                    + #","type":"message","payload":{"text":"x"},\#(more)"#)
        }
        let lines = [
            message(#""created_at":"2020-01-01T00:00:00Z","expires_at":"2020-01-02T00:00:00Z""#),
            message(#""created_at":"2020-01-01T00:00:00Z","expires_at":"2100-01-02T00:00:00Z""#),
        ]
        _ = try await stage.apply((archive.lines + lines).joined(separator: "\n"))
        let room = "thread_id = '\(archive.room)'"
        #expect(
            try await stage.rows(
                "select seq, payload is null, deleted_at is null from messages where \(room) order by seq")
                == "1|t|f\n2|f|t")
        #expect(try await stage.rows("select seq from message_expiries where \(room)") == "2")

        stage.limits.retentionMaxS = 3_600
        let other = SampleArchive()
        let report = try await stage.apply(other.text)
        #expect(report["left_out_count"]?.integer == 3)
        #expect(try await stage.rows("select distinct keep_s from threads where id = '\(other.room)'") == "3600")
        let group = "thread_id = '\(other.group)'"
        // The system message stays.
        #expect(
            try await stage.rows(
                "select string_agg(seq::text, ',') from messages where payload is not null and \(group)") == "4")
        #expect(try await stage.rows("select seq from retention_walks where \(group)") == "5")
    }

    @Test("leaves erased accounts out of threads, and marks blocks in direct threads")
    func people() async throws {
        let stage = try await Stage()
        let archive = SampleArchive()
        let lines = [
            SampleArchive.line(
                "user", #""id":"\#(archive.ann)","name":"Ann","created_at":"2020-01-01T00:00:00Z""#),
            SampleArchive.line(
                "user", #""id":"\#(archive.bob)","name":"Bob","created_at":"2020-01-01T00:00:00Z""#),
            SampleArchive.line(
                "user", #""id":"\#(archive.bot)","name":"Deleted user","created_at":"2020-01-01T00:00:00Z""#),
            SampleArchive.line(
                "block",
                #""user_id":"\#(archive.ann)","blocked_id":"\#(archive.bob)","created_at":"2020-01-01T00:00:00Z""#),
        ]
        _ = try await stage.apply((lines + archive.threads).joined(separator: "\n"))
        #expect(try await stage.rows("select count(*) from users where erased_at is not null") == "1")
        #expect(
            try await stage.rows("select status from members where user_id = '\(archive.bot)'") == "left")
        #expect(
            try await stage.rows(
                "select blocked is true, blocks is true from members where thread_id = '\(archive.direct)' "
                    + "order by user_id = '\(archive.ann)'") == "t|f\nf|t")
    }

    @Test("stays staged until it is applied or dropped, and a part is staged once")
    func parts() async throws {
        let stage = try await Stage()
        let store = Store(stage.client)
        let digest = [UInt8](repeating: 7, count: 32)
        let place = try await store.beginImport(digest: digest)
        var part = ImportPart(start: 0)
        part.byteCount = 10
        part.lineCount = 1
        try await store.stage(part, of: place.id)
        let again = try await store.beginImport(digest: digest)
        #expect(again == ImportPlace(id: place.id, byteCount: 10, lineCount: 1))
        let superseded = try await #require(throws: Problem.self) { try await store.stage(part, of: place.id) }
        #expect(superseded.code == .importSuperseded)
        #expect(try await !store.sweepImports(idleS: 0, fileIdleS: 60))
        #expect(try await store.sweepImports(idleS: 60, fileIdleS: 0))
        let ended = try await #require(throws: Problem.self) { try await store.checkImport(place.id) }
        #expect(ended.code == .importEnded)
    }
}
