// Archives of a running service: the API, the command, and what happens when something goes away.
import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Moving archives", .timeLimit(.minutes(3)))
    struct MovingArchives {
        private static func export(
            _ database: String, _ flags: [String] = [], settings: [String: String] = [:]
        ) async throws -> Parley.Outcome {
            try await Parley.run(
                ["export"] + flags, settings: settings.merging(["PARLEY_DATABASE_URL": database]) { $1 },
                within: .seconds(60))
        }

        @Test("the API and the command write the same archive, with everything and no secrets")
        func everything() async throws {
            let ground = try await ArchiveGround()
            let archive = try await ground.export()
            let types = Set(archive.split(separator: "\n").map { $0.split(separator: "\"")[3] })
            #expect(
                types == [
                    "archive", "user", "block", "attachment", "attachment_data", "thread", "member", "message",
                    "message_version", "reaction", "receipt", "hidden_message", "end",
                ])
            // The last line counts the others, and has their digest.
            let lines = archive.split(separator: "\n", omittingEmptySubsequences: false)
            let last = try JSON(parsing: Data(try #require(lines.dropLast().last).utf8))["data"]
            let rest = lines.dropLast(2).joined(separator: "\n") + "\n"
            #expect(last["sha256"].string == TestFile.digest(of: Data(rest.utf8)))
            #expect(last["lines"] == JSON(lines.count - 2))
            #expect(lines.allSatisfy { $0.utf8.count < 1_048_576 })
            #expect(try ArchiveGround.digests(in: archive) == ground.files)
            let pieces = try ArchiveGround.data("attachment_data", in: archive)
            #expect(pieces.count { $0["variant"] == "thumbnail" } == 2)
            for secret in [ground.ann.token, ground.ann.password, "scrypt", "a secret", "session"] {
                #expect(!archive.contains(secret), "\(secret)")
            }

            let command = try await Self.export(ground.database)
            #expect(command.exit == .status(0) && command.errors.contains("; complete"), "\(command.errors)")
            let comparison = ArchiveComparison(archive, command.output)
            #expect(comparison.isEqual, "\(comparison)")
            let own = try await Self.export(ground.database, ["--user", ground.cat.id])
            let senders = try ArchiveGround.data("message", in: own.output).map { $0["sender_id"].string }
            #expect(senders.count == 5 && senders.allSatisfy { $0 == ground.cat.id })
            try await ground.node.stop()
        }

        @Test("an archive that is imported elsewhere is exported there with the same lines, and its files are the same")
        func thereAndBack() async throws {
            let ground = try await ArchiveGround()
            let archive = try await ground.export()
            let database = try await MigratedDatabase.create()
            let other = try await Node.start(database: database, settings: ArchiveGround.settings)
            let answer = try await other.client.transfer(
                "POST", "/v1/admin/import", Data(archive.utf8), as: ArchiveGround.operatorPerson,
                [("Content-Type", "application/x-ndjson")], within: .seconds(60))
            try #require(answer.status == 200, "\(answer)")
            #expect(answer.json["complete"] == true && answer.json["left_out_count"] == 0, "\(answer)")
            let again = try await Self.export(database)
            let comparison = ArchiveComparison(archive, again.output)
            #expect(comparison.isEqual, "\(comparison)")

            let path = "/v1/admin/users/\(ground.ben.id)/sessions"
            let session = try await other.client.post(path, [:], as: ArchiveGround.operatorPerson)
            let token = try #require(session.json["session"]["token"].string, "\(session)")
            let ben = Person(
                id: ground.ben.id, username: ground.ben.username, password: "", session: "", token: token)
            for (id, digest) in ground.files {
                #expect(TestFile.digest(of: try await other.client.download(id, as: ben).body) == digest)
            }
            let (first, second) = (
                try await ground.client.history(of: ground.group, as: ground.ben),
                try await other.client.history(of: ground.group, as: ben)
            )
            #expect(first.count > 1 && first == second, "\(first)")
            try await other.stop()
            try await ground.node.stop()
        }

        @Test(
            "files in an object store are read from there; without its settings the command fails",
            .enabled(if: Tool.permits(TestObjectStore.isInstalled), "\(TestObjectStore.needed)"))
        func objectStore() async throws {
            let server = try await TestObjectStore.start()
            let settings = [
                "PARLEY_S3_ENDPOINT": server.endpoint, "PARLEY_S3_BUCKET": TestObjectStore.bucket,
                "PARLEY_S3_REGION": TestObjectStore.region, "PARLEY_S3_ACCESS_KEY": TestObjectStore.accessKey,
                "PARLEY_S3_SECRET_KEY": TestObjectStore.secretKey,
            ]
            let ground = try await ArchiveGround(settings: settings)
            try await eventually("all files to be in the store", within: .seconds(60), every: .milliseconds(200)) {
                _ = try await Psql.run("update attachments set lease_until = now()", conninfo: ground.database)
                let left = "select count(*) from attachment_chunks"
                return try await Psql.run(left, conninfo: ground.database) == "0"
            }
            let archive = try await ground.export()
            #expect(try ArchiveGround.digests(in: archive) == ground.files)
            let command = try await Self.export(ground.database, settings: settings)
            let comparison = ArchiveComparison(archive, command.output)
            #expect(command.exit == .status(0) && comparison.isEqual, "\(command.errors)\(comparison)")
            let without = try await Self.export(ground.database)
            #expect(without.exit == .status(1) && without.errors.contains("Set the PARLEY_S3_… settings"))
            #expect(!without.output.contains(#""type":"end""#))
            try await ground.node.stop()
        }

        @Test("the command fails with a sentence for what is unknown or malformed, and quietly without a reader")
        func command() async throws {
            let ground = try await ArchiveGround()
            for (flags, status, sentence) in [
                (["--user", newID()], Int32(1), "There is no such user."),
                (["--thread", newID()], 1, "There is no such thread."),
                (["--since", "yesterday"], 2, "--since must be an RFC 3339 time"),
                (["--since=2026-01-02T00:00:00Z", "--until=2026-01-01T00:00:00Z"], 2, "--until must not be before"),
            ] {
                let outcome = try await Self.export(ground.database, flags)
                #expect(outcome.exit == .status(status) && outcome.errors.contains(sentence), "\(outcome.errors)")
                #expect(outcome.output.isEmpty)
            }
            let script = #""$0" export | head -n 1 > /dev/null; echo "${PIPESTATUS[0]}""#
            let piped = try await TestProcess.start(
                ["/bin/bash", "-c", script, Parley.executable], environment: ["PARLEY_DATABASE_URL": ground.database])
            _ = try await piped.waitForExit(within: .seconds(30))
            #expect(String(decoding: piped.output, as: UTF8.self) == "1\n" && piped.errors.isEmpty, "\(piped.errors)")
        }

        @Test("two exports run at a time and hold little memory; a lost database cuts the connection")
        func bounds() async throws {
            let ground = try await ArchiveGround()
            try await fill(
                ground.group, by: ground.ann.id, with: String(repeating: "x", count: 2_000), count: 24_000,
                in: ground.database)
            var request = Request("GET", "/v1/admin/export")
            request.headers = [("Authorization", "Bearer \(ArchiveGround.operatorPerson.token)")]
            let before = try #require(try await ground.node.metric("process_resident_memory_bytes"))
            let stalled = [Connection(ground.node.address), Connection(ground.node.address)]
            for connection in stalled { #expect(try await connection.open(request).status == 200) }
            let third = try await ground.client.send(request)
            #expect(third.status == 503 && third.headers["retry-after"] != nil, "\(third)")
            let after = try #require(try await ground.node.metric("process_resident_memory_bytes"))
            #expect(after - before < 60_000_000, "\(before) to \(after)")
            for connection in stalled { await connection.close() }
            // Each slot is free again when its connection is gone.
            let large = try await eventually("an export", within: .seconds(30)) { () -> Answer? in
                let answer = try await ground.client.transfer(
                    "GET", "/v1/admin/export", as: ArchiveGround.operatorPerson, within: .seconds(60))
                return answer.status == 200 ? answer : nil
            }
            #expect(large.text.suffix(400).contains(#"{"type":"end""#))

            let cut = Connection(ground.node.address)
            #expect(try await cut.open(request).status == 200)
            // The node waits for the client once the buffers of the connection are full.
            try await eventually("the export to stall", within: .seconds(20), every: .milliseconds(200)) {
                let count = try await Psql.run(
                    """
                    select count(pg_terminate_backend(pid, 5000)) from pg_stat_activity
                    where datname = current_database() and state = 'idle in transaction'
                        and query like '%archive_next(%' and now() - state_change > interval '300 ms'
                    """, conninfo: ground.database)
                return count == "0" ? nil : true
            }
            // Without the chunk that ends a body.
            await #expect(throws: Connection.Failure.self) { try await cut.nextBlock(within: .seconds(20)) }
            try await eventually("the log line") {
                ground.node.program.errors.contains("an export was cut off before its last line")
            }
            await cut.close()
            try await ground.node.stop()
        }
    }
}
