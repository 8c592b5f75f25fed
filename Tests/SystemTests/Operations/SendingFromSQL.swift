// Messages that another program sends in its own database transaction, as its clients see them.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Sending from SQL", .timeLimit(.minutes(2)))
    struct SendingFromSQL {
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
                try await Self.count(client, thread, bob) == 1
            }
            try await nodes.kill(0)
            try await Psql.run(
                "select from parley.send('\(ann.id)', '\(thread)', '{\"text\":\"two\"}')",
                conninfo: shop.replacing("user='parley'", with: "user='\(role)'"))
            let other = await nodes[1]
            try await eventually("two", every: .milliseconds(20)) {
                try await Self.count(other.client, thread, bob) == 2
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
