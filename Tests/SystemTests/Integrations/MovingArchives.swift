// Archives of a running service: the API, the command, and what happens when something goes away.
import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Moving archives")
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
            let third = try await ground.curl.send(request)
            #expect(third.status == 503 && third.headers["retry-after"] == "30")
            let after = try #require(try await ground.node.metric("process_resident_memory_bytes"))
            #expect(after - before < 60_000_000, "\(before) to \(after)")
            for connection in stalled { await connection.close() }
            // Each slot is free again when its connection is gone.
            let large = try await eventually("an export", within: .seconds(30)) { () -> Answer? in
                let answer = try await ground.curl.transfer(
                    "GET", "/v1/admin/export", as: ArchiveGround.operatorPerson, within: .seconds(60))
                return answer.status == 200 ? answer : nil
            }
            #expect(large.text.suffix(200).contains(#"{"type":"end""#))

            let cut = Connection(ground.node.address)
            #expect(try await cut.open(request).status == 200)
            try await Psql.run(
                """
                select pg_terminate_backend(pid, 5000) from pg_stat_activity
                where datname = current_database() and query like '%archive_%' and pid <> pg_backend_pid()
                """, conninfo: ground.database)
            // Without the chunk that ends a body.
            await #expect(throws: Connection.Failure.self) { try await cut.nextBlock(within: .seconds(20)) }
            try await eventually("the log line") {
                ground.node.program.errors.contains("an export was cut off before its last line") ? true : nil
            }
            await cut.close()
            try await ground.node.stop()
        }
    }
}
