// Messages that another program sends in its own database transaction, as its clients see them.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Sending from SQL", .timeLimit(.minutes(2)))
    struct SendingFromSQL {
        /// A login that may send and nothing else, and its way to the database.
        private static func shop(in database: String) async throws -> String {
            let cluster = try await TestCluster.shared()
            let role = unique("shop_").lowercased()
            try await cluster.psql("create role \(role) login in role parley_sender", database: database)
            return database.replacing("user='parley'", with: "user='\(role)'")
        }

        /// The same database for a superuser, who sees what other users' sessions do.
        private static func superuser(_ database: String) async throws -> String {
            let name = database.firstMatch(of: /dbname='(\w+)'/).map { String($0.1) } ?? ""
            return try await TestCluster.shared().superuserConninfo(database: name)
        }

        /// How many messages a thread has; nil while it does not exist.
        private static func count(_ client: Client, _ thread: String, _ person: Person) async throws -> Int? {
            let page = try await client.get("/v1/threads/\(thread)/messages", as: person)
            return page.status == 200 ? page.json["messages"].items.count : nil
        }

        private static func text(_ event: JSON) -> String { event["data"]["payload"]["text"].string ?? "" }

        @Test("reaches waiting polls of all nodes like any other message")
        func reachesPolls() async throws {
            let direct = try await DirectThread()
            let people = direct.people
            let nodes = people.nodes
            let shop = try await Self.shop(in: nodes.database)
            let id = newID()
            for (node, person) in [(nodes.a, people.bob), (nodes.b, people.ann)] {
                let cursor = try await node.client.cursor(of: person)
                async let poll = node.client.syncUntilTold(person, from: cursor, wait: 25)
                try await node.waitForPolls()
                try await Psql.run(
                    """
                    select from parley.send('\(people.ann.id)', '\(direct.id)', '{"text":"from SQL"}',
                        '\(node === nodes.a ? id : newID())')
                    """, conninfo: shop)
                let answer = try await poll
                #expect(answer.json["events"].items.map(Self.text).contains("from SQL"), "\(answer)")
            }
            // Sent once more, by SQL and by the API, it is the same message.
            try await Psql.run(
                "select from parley.send('\(people.ann.id)', '\(direct.id)', '{\"text\":\"from SQL\"}', '\(id)')",
                conninfo: shop)
            #expect(try await nodes.a.client.say("from SQL", in: direct.id, as: people.ann, id: id).status == 200)
            #expect(try await nodes.a.client.say("else", in: direct.id, as: people.ann, id: id).status == 409)
            let history = try await nodes.a.client.history(of: direct.id, as: people.bob)
            #expect(history.count == 2 && history.first?["id"].string == id)
            let inbox = try await nodes.b.client.get("/v1/inbox", as: people.bob)
            #expect(inbox.json["unread_total"] == 2)
        }

        @Test(
            "an open transaction delays neither sends of the API nor other transactions, and arrives after its commit")
        func openTransaction() async throws {
            let nodes = try await TestNodes.own(on: try await TestCluster.shared())
            let client = nodes.a.client
            let ann = try await client.register("Ann")
            let bob = try await client.register("Bob")
            let thread = try await client.thread("direct", by: ann, with: [bob])
            let shop = try await Self.shop(in: nodes.database)
            let send = { @Sendable (text: String) in
                "select from parley.send('\(ann.id)', '\(thread)', '{\"text\":\"\(text)\"}');"
            }
            let open = Task {
                try await Psql.run("begin;" + send("late") + Psql.sleep + "commit;", conninfo: shop)
            }
            let superuser = try await Self.superuser(nodes.database)
            #expect(try await Psql.isAsleep(in: superuser))
            var expected: [String] = []
            for number in 0..<5 {
                #expect(try await client.say("api \(number)", in: thread, as: bob).status == 201)
                try await Psql.run(send("sql \(number)"), conninfo: shop)
                expected += ["api \(number)", "sql \(number)"]
                try await eventually("sql \(number)", every: .milliseconds(20)) {
                    try await client.history(of: thread, as: ann).last?["payload"]["text"].string == "sql \(number)"
                        ? true : nil
                }
            }
            try await Psql.wake(in: superuser)
            _ = try await open.value
            try await eventually("the late message", every: .milliseconds(20)) {
                try await client.history(of: thread, as: ann).count == 11 ? true : nil
            }
            let texts = try await client.history(of: thread, as: ann).map { $0["payload"]["text"].string }
            #expect(texts == expected + ["late"])
            try await nodes.stop()
        }

        @Test("works from a database apart, which parley outbox install prepares")
        func apart() async throws {
            let cluster = try await TestCluster.shared()
            let (database, shop) = (try await cluster.createDatabase(), try await cluster.createDatabase())
            let owner = try await Self.superuser(shop)
            for _ in 1...2 {
                let installed = try await Parley.run(["outbox", "install", owner])
                #expect(installed.exit == .status(0) && installed.output.contains("PARLEY_OUTBOX_URLS"), "\(installed)")
            }
            let nodes = try await RestartableNodes.start(
                2, on: database,
                settings: ["PARLEY_OUTBOX_URLS": owner + ",host=/nowhere dbname=none", "PARLEY_LOG_FORMAT": "json"])
            let client = await nodes[0].client
            let ann = try await client.register("Ann")
            let bob = try await client.register("Bob")
            let role = unique("crm_").lowercased()
            try await cluster.psql("create role \(role) login in role parley_sender", database: shop)
            let thread = try await Psql.run(
                """
                begin;
                select parley.ensure_direct('\(ann.id)', '\(bob.id)');
                select from parley.send('\(ann.id)', parley.ensure_direct('\(ann.id)', '\(bob.id)'), '{"text":"one"}');
                commit;
                """, conninfo: shop.replacing("user='parley'", with: "user='\(role)'"))
            try await eventually("one", every: .milliseconds(20)) {
                try await Self.count(client, thread, bob) == 1 ? true : nil
            }
            try await nodes.kill(0)
            try await Psql.run(
                "select from parley.send('\(ann.id)', '\(thread)', '{\"text\":\"two\"}')",
                conninfo: shop.replacing("user='parley'", with: "user='\(role)'"))
            let other = await nodes[1]
            try await eventually("two", every: .milliseconds(20)) {
                try await Self.count(other.client, thread, bob) == 2 ? true : nil
            }
            // The database that is nowhere is mentioned once, and harms nobody.
            try await other.waitUntilLogged("reading the outbox failed")
            try await eventually("three attempts to read it") {
                try await other.metric(#"parley_worker_failures_total{worker="outbox"}"#) ?? 0 >= 3
            }
            #expect(other.loggedCount("reading the outbox failed") == 1, "\(other.program.errors.suffix(2_000))")
            // Parley's own database and the shop's, but not the one that is nowhere.
            #expect(try await other.metric("parley_outbox_database_up") == 2)
            try await nodes.restart(0)
            try await nodes.stopAll()
        }

        @Test("says what is wrong with the command's arguments and with its database")
        func mistakes() async throws {
            for (words, part, status) in [
                (["outbox", "remove"], "Actions: install", 2), (["outbox", "install"], "needs one value", 2),
                (["outbox", "install", "x"], "PostgreSQL URL", 2),
                (["outbox", "install", "host=/nowhere dbname=none"], "can't be used", 1),
            ] {
                let outcome = try await Parley.run(words)
                #expect(outcome.exit == .status(Int32(status)) && outcome.errors.contains(part), "\(outcome)")
            }
            let cluster = try await TestCluster.shared()
            let outcome = try await Parley.run(["outbox", "install", try await cluster.createDatabase()])
            // The owner may make no role, but this server has it already.
            #expect([TestProcess.Exit.status(0), .status(1)].contains(outcome.exit), "\(outcome)")
            for help in [["outbox"], ["outbox", "--help"], ["help", "outbox"]] {
                #expect(try await Parley.run(help).output.contains("parley outbox install DATABASE_URL"))
            }
        }

        @Test("does what docs/sql.md shows")
        func documentation() async throws {
            let cluster = try await TestCluster.shared()
            let nodes = try await TestNodes.own(on: cluster)
            var (script, printed) = ("set -e\n", "")
            for block in try Document("docs/sql.md").markedBlocks {
                if block.marker == "run" {
                    script += block.code
                } else if block.marker == "prints" {
                    printed += block.code
                }
            }
            let program = try await TestProcess.start(
                ["/bin/bash", "-c", script],
                environment: [
                    "PARLEY": nodes.a.address.description, "PATH": "/usr/local/bin:/usr/bin:/bin",
                    "ADMIN_URL": try await Self.superuser(nodes.database),
                    "SHOP_URL": nodes.database.replacing("user='parley'", with: "user='shop'"),
                ])
            let exit = try await program.waitForExit(within: .seconds(60))
            #expect(exit == .status(0), "\(program.errors)")
            #expect(String(decoding: program.output, as: UTF8.self) == printed, "\(program.errors)")
            try await nodes.stop()
        }
    }
}
