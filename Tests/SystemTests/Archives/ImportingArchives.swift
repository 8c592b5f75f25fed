// Imports on running nodes and by `parley import`: what connected clients see, and what kill -9 leaves behind.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Importing archives", .timeLimit(.minutes(3)))
    struct ImportingArchives {
        private static let token = "a-token-for-imports"

        private static func start(_ database: String? = nil) async throws -> (node: Node, database: String) {
            let database =
                if let database { database } else { try await MigratedDatabase.create() }
            let node = try await Node.start(database: database, settings: ["PARLEY_ADMIN_TOKEN": token])
            return (node, database)
        }

        private static func post(_ archive: String, to node: Node, _ query: String = "") async throws -> Answer {
            var request = Request("POST", "/v1/admin/import" + query)
            request.headers = [("Authorization", "Bearer \(token)"), ("Content-Type", "application/x-ndjson")]
            request.body = Data(archive.utf8)
            request.waitMax = .seconds(60)
            return try await node.client.send(request)
        }

        private static func line(_ type: String, _ data: String) -> String { SampleArchive.line(type, data) }

        /// A group of somebody who is here already and of somebody who is new, with messages of both.
        private static func archive(of ann: String, thread: String, messageCount: Int) -> String {
            let (bob, at) = (newID(), #""created_at":"2021-01-01T00:00:00Z""#)
            var lines = [
                line("user", #""id":"\#(bob)","name":"Bob",\#(at)"#),
                line("thread", #""id":"\#(thread)","kind":"group","title":"Old times",\#(at)"#),
                line("member", #""thread_id":"\#(thread)","user_id":"\#(ann)","role":"owner""#),
                line("member", #""thread_id":"\#(thread)","user_id":"\#(bob)""#),
            ]
            for number in 0..<messageCount {
                lines.append(
                    line(
                        "message",
                        #""id":"\#(newID())","thread_id":"\#(thread)","sender_id":"\#(number % 2 == 0 ? ann : bob)""#
                            + #","type":"message","payload":{"text":"old \#(number)"},\#(at)"#))
            }
            return lines.joined(separator: "\n") + "\n"
        }

        private static func count(_ table: String, in database: String) async throws -> Int {
            Int(try await Psql.run("select count(*) from \(table)", conninfo: database)) ?? -1
        }

        @Test(
            "a connected client gets the new threads, read, and nothing for each message; the next one has the next seq"
        )
        func connectedClient() async throws {
            let (node, database) = try await Self.start()
            let other = try await Self.start(database)
            let ann = try await node.client.register("Ann")
            let cursor = try await other.node.client.cursor(of: ann)
            async let poll = other.node.client.sync(ann, from: cursor, wait: 25)
            try await other.node.waitForPolls()
            let thread = newID()
            let answer = try await Self.post(Self.archive(of: ann.id, thread: thread, messageCount: 30), to: node)
            #expect(answer.status == 200, "\(answer)")
            let events = try await poll.told
            #expect(events.map { $0["type"].string } == ["thread.created"], "\(events)")
            let data = try #require(events.first)["data"]
            #expect(data["head"].int == 30 && data["unread_count"].int == 0 && data["me"]["role"] == "owner")
            #expect(data["members"].items.count == 2)

            let inbox = try await other.node.client.get("/v1/inbox", as: ann).json
            #expect(inbox["threads"][0]["head"].int == 30 && inbox["unread_total"].int == 0)
            let sent = try await other.node.client.say("new", in: thread, as: ann)
            #expect(sent.json["seq"].int == 31)
            let later = try await node.client.sync(ann, from: cursor, wait: 0)
            #expect(later.told.map { $0["type"].string } == ["thread.created", "message.created"])
            try await eventually("found by the index") {
                try await node.client.get("/v1/search?q=old", as: ann).json["results"].items.count > 0
            }
            #expect(try await Self.count("push_jobs", in: database) == 0)
            _ = try await (node.stop(), other.node.stop())
        }

        @Test("the command line imports a file, refuses a bad line, and changes nothing the second time")
        func commandLine() async throws {
            let (node, database) = try await Self.start()
            let ann = try await node.client.register("Ann")
            let directory = try TemporaryDirectory()
            let file = directory.path + "/archive.ndjson"
            let archive = Self.archive(of: ann.id, thread: newID(), messageCount: 3)
            func run(_ words: String...) async throws -> Parley.Outcome {
                try await Parley.run(["import"] + words, settings: ["PARLEY_DATABASE_URL": database])
            }
            try (archive + "{\n").write(toFile: file, atomically: true, encoding: .utf8)
            let refused = try await run(file)
            #expect(refused.exit == .status(1) && refused.errors.contains("Line 8: "), "\(refused.errors)")
            #expect(try await Self.count("imports", in: database) == 0)
            try archive.write(toFile: file, atomically: true, encoding: .utf8)
            let dry = try await run("--dry-run", file)
            #expect(dry.exit == .status(0) && dry.output.contains("\"applied\" : false"), "\(dry.output)\(dry.errors)")
            #expect(try await Self.count("messages", in: database) == 0)
            let done = try await run(file)
            #expect(done.exit == .status(0), "\(done.errors)")
            #expect(try JSON(parsing: Data(done.output.utf8))["added"]["messages"].int == 3)
            let again = try await run(file)
            #expect(try JSON(parsing: Data(again.output.utf8))["existing"]["messages"].int == 3)
            #expect(try await run("/nowhere").exit == .status(1))
            #expect(try await run().exit == .status(0))  // The help.
            #expect(try await run("a", "b").exit == .status(2))
            try await node.stop()
        }

        @Test("the command line continues where kill -9 left it")
        func killedCommand() async throws {
            let (node, database) = try await Self.start()
            let ann = try await node.client.register("Ann")
            let directory = try TemporaryDirectory()
            let file = directory.path + "/archive.ndjson"
            let messageCount = 40_000
            try Self.archive(of: ann.id, thread: newID(), messageCount: messageCount)
                .write(toFile: file, atomically: true, encoding: .utf8)
            let settings = ["PARLEY_DATABASE_URL": database]
            let first = try await TestProcess.start([Parley.executable, "import", file], environment: settings)
            try await eventually("a part", within: .seconds(60)) {
                try await Psql.run("select lines from imports where lines > 0", conninfo: database).isEmpty ? nil : true
            }
            first.send(SIGKILL)
            try await first.waitForExit()
            #expect(try await Self.count("messages", in: database) == 0)
            let second = try await Parley.run(["import", file], settings: settings, within: .seconds(120))
            #expect(second.exit == .status(0) && second.errors.contains("continuing after"), "\(second.errors)")
            #expect(try JSON(parsing: Data(second.output.utf8))["added"]["messages"].int == messageCount)
            #expect(try await Self.count("messages", in: database) == messageCount)
            try await node.stop()
        }

        @Test("a node that is killed while it reads leaves nothing visible, and the next one drops the rest")
        func killedNode() async throws {
            let (node, database) = try await Self.start()
            let ann = try await node.client.register("Ann")
            let directory = try TemporaryDirectory()
            let file = directory.path + "/archive.ndjson"
            try Self.archive(of: ann.id, thread: newID(), messageCount: 6_000)
                .write(toFile: file, atomically: true, encoding: .utf8)
            let upload = """
                (cat "$1"; sleep 60) | curl -s -X POST -T - -H "Authorization: Bearer $2" \
                    -H 'Content-Type: application/x-ndjson' "$3/v1/admin/import"
                """
            let client = try await TestProcess.start(
                ["/bin/bash", "-c", upload, "upload", file, Self.token, node.address.description])
            try await eventually("a part") {
                try await Psql.run("select lines from imports where lines > 0", conninfo: database).isEmpty ? nil : true
            }
            let busy = try await Self.post("", to: node)
            #expect(busy.status == 503 && busy.headers["retry-after"] != nil, "\(busy)")
            try await node.kill()
            client.send(SIGKILL)
            #expect(try await Self.count("messages", in: database) == 0)
            #expect(try await Self.count("threads", in: database) == 0)
            try await Psql.run("update imports set touched_at = now() - interval '21 minutes'", conninfo: database)
            let next = try await Self.start(database)
            try await eventually("no imports") {
                try await Self.count("imports", in: database) == 0
            }
            #expect(try await Self.count("import_messages", in: database) == 0)
            try await next.node.stop()
        }
    }
}
