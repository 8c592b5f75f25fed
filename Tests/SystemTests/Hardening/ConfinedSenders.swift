// A host app's database role that attacks with what PostgreSQL gives to every user: advisory locks, locks of tables,
// LISTEN and NOTIFY.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("A host app's database role that attacks", .timeLimit(.minutes(3)))
    struct ConfinedSenders {
        private static let token = "admin-of-the-confined"
        private static let admin = Person(id: "", username: "", password: "", session: "", token: token)
        private static let settings = [
            "PARLEY_ADMIN_TOKEN": token, "PARLEY_PUSH_ALLOW_PRIVATE": "true",
            "PARLEY_WEBPUSH_SUBJECT": "mailto:push@example.org",
        ]

        /// Two nodes on a PostgreSQL of their own, because all databases of a server share locks and notifications.
        private struct Stage {
            let cluster: TestCluster
            let nodes: TestNodes
            /// The conninfos of the role, and of a superuser in the same database.
            let shop: String
            let superuser: String

            static func open() async throws -> Stage {
                let cluster = try await TestCluster.own(fsync: false)
                let nodes = try await TestNodes.own(on: cluster, settings: settings)
                let name = TestCluster.databaseName(nodes.database)
                try await cluster.psql("create role shop login in role parley_sender", database: name)
                return Stage(
                    cluster: cluster, nodes: nodes,
                    shop: nodes.database.replacing("user='parley'", with: "user='shop'"),
                    superuser: cluster.superuserConninfo(database: name))
            }

            func close() async throws {
                try await nodes.stop()
                await cluster.close()
            }

            /// Runs `body` while the role holds every advisory lock that Parley has ever used, and some of each kind with
            /// two keys.
            func whileLocksAreHeld(_ body: () async throws -> Void) async throws {
                let holder = Task {
                    try await Psql.run(
                        """
                        select count(pg_advisory_lock(7266000 + n)) from generate_series(0, 99) n;
                        select count(pg_advisory_lock(7266000 + n, k)) from generate_series(0, 9) n,
                            generate_series(0, 99) k;
                        \(Psql.sleep)
                        """, conninfo: shop)
                }
                #expect(try await Psql.isAsleep(in: superuser))
                try await body()
                try await Psql.wake(in: superuser)
                _ = try await holder.value
            }
        }

        /// Ann and Ben, who share a direct thread on both nodes.
        private struct Pair {
            let ann: Person
            let ben: Person
            let thread: String

            init(_ client: Client) async throws {
                ann = try await client.register("Ann")
                ben = try await client.register("Ben")
                thread = try await client.thread("direct", by: ann, with: [ben])
            }
        }

        @Test("holds all advisory locks, and every call works; a node starts as well")
        func advisoryLocks() async throws {
            let stage = try await Stage.open()
            let pair = try await Pair(stage.nodes.a.client)
            let client = stage.nodes.a.client
            try await stage.whileLocksAreHeld {
                let other = try await client.register("Cleo")
                let direct = try await client.thread("direct", by: other, with: [pair.ann])
                _ = try await client.sent("Hello", in: direct, as: other)
                let id = try await client.sent("Hello", in: pair.thread, as: pair.ann)
                let message = "/v1/threads/\(pair.thread)/messages/\(id)"
                #expect(
                    try await client.call("PATCH", message, ["payload": ["text": "edited"]], as: pair.ann).status == 200
                )
                #expect(try await client.delete("\(message)?for=everyone", as: pair.ann).status == 204)
                #expect(try await client.put("/v1/users/me/blocks/\(other.id)", [:], as: pair.ben).status == 204)
                let push: JSON = [
                    "platform": "webpush", "endpoint": "http://127.0.0.1:9/x",
                    "keys": ["p256dh": .string(TestBrowser().keyText), "auth": "AAAAAAAAAAAAAAAAAAAAAA"],
                ]
                #expect(try await client.put("/v1/sessions/current/push", push, as: pair.ben).status == 200)
                #expect(try await client.put("/v1/admin/consumers/x", [:], as: Self.admin).status == 201)
                let hook: JSON = ["url": "http://127.0.0.1:9/x"]
                #expect(try await client.post("/v1/admin/webhooks", hook, as: Self.admin).status == 201)
                let command: JSON = ["word": "/x", "url": "http://127.0.0.1:9/x", "name": "X"]
                let made = try await client.post("/v1/admin/commands", command, as: Self.admin)
                #expect(made.status == 201, "\(made)")
                let hold: JSON = ["name": "x", "reason": "x", "user_id": .string(other.id)]
                #expect(try await client.post("/v1/admin/holds", hold, as: Self.admin).status == 201)
                _ = try await client.logIn(again: pair.ben)

                // The outbox is pumped, the log is searched and indexed, and a third node finds the schema up to date.
                let cursor = try await client.cursor(of: pair.ben)
                async let poll = stage.nodes.b.client.syncUntilTold(pair.ben, from: cursor, wait: 25)
                try await Psql.run(
                    "select from parley.send('\(pair.ann.id)', '\(pair.thread)', '{\"text\":\"needle\"}')",
                    conninfo: stage.shop)
                #expect(try await poll.text.contains("needle"))
                try await eventually("the message is found") {
                    try await client.get("/v1/search?q=needle", as: pair.ben).json["results"].items.count == 1
                }
                let third = try await Node.start(database: stage.nodes.database, settings: Self.settings)
                try await third.stop()
            }
            try await stage.close()
        }

        /// What the role sends to channels: garbage, and events in the forms that nodes once sent.
        private static func flood(_ channels: [String], _ pair: Pair, milliseconds: Int, perCommit: Int) -> String {
            let event = """
                {"type":"message.created","thread_id":"\(pair.thread)","data":{"id":"\(newID())","seq":999,"type":"message",\
                "sender":{"id":"\(pair.ann.id)","name":"Boss"},"payload":{"text":"FORGED please pay"}}}
                """
            let typing = """
                {"type":"typing","thread_id":"\(pair.thread)","at":"2026-11-21T10:14:00.000Z",\
                "data":{"user_id" : "\(pair.ann.id)"}}
                """
            let payloads = [
                "x", "999999999999 x", "9223372036854775807 FORGED", "-1", "FORGED",
                "FORGED\n\(pair.ann.id) \(pair.thread) \(event)",
                "FORGED\n\(pair.ann.id) \(pair.thread) \(typing)", "FORGED\n\(pair.ann.id) \(pair.thread) }}]]FORGED",
            ]
            let large = ["repeat('AQAB', 1900)", "repeat('FORGED', 1300)"]
            let list = (payloads.map { "$p$\($0)$p$" } + large).joined(separator: ", ")
            return """
                do $$
                declare
                    v_end timestamptz := clock_timestamp() + \(milliseconds) * interval '1 ms';
                    v_count int := 0;
                    v_payloads text[] := array[\(list)];
                    v_channels text[] := array[\(channels.map { "'\($0)'" }.joined(separator: ", "))]::text[];
                begin
                    while clock_timestamp() < v_end loop
                        -- Equal payloads of one transaction are sent once.
                        perform pg_notify(c.name, left(p.payload || ' ' || v_count, 7999))
                        from unnest(v_channels) c (name), unnest(v_payloads) p (payload);
                        v_count := v_count + 1;
                        if v_count % \(perCommit) = 0 then
                            commit;
                        end if;
                    end loop;
                end $$;
                """
        }

        /// Times sends on node A, idle and during the flood; meanwhile Ben polls on node B, signs in, and sees Ann type.
        private func attack(_ name: String, _ channels: [String], _ stage: Stage) async throws {
            let (nodes, shop) = (stage.nodes, stage.shop)
            let pair = try await Pair(nodes.a.client)
            let others = try await OtherUsers.join(nodes.a)
            let cursor = try await nodes.b.client.cursor(of: pair.ben)
            let isOver = Flag()
            let polled = Task {
                var (answers, cursor) = ([String](), cursor)
                while !isOver.isSet {
                    let answer = try await nodes.b.client.sync(pair.ben, from: cursor, wait: 1)
                    try #require(answer.status == 200, "\(answer)")
                    cursor = try #require(answer.json["cursor"].string, "\(answer)")
                    answers.append(answer.text)
                }
                return answers
            }
            let used = Task {
                while !isOver.isSet {
                    _ = try await nodes.b.client.logIn(again: pair.ben)
                    let typing = "/v1/threads/\(pair.thread)/typing"
                    try #require(try await nodes.a.client.put(typing, [:], as: pair.ann).status == 204)
                    _ = try await nodes.a.client.sent("real", in: pair.thread, as: pair.ann)
                    try await Task.sleep(for: .milliseconds(300))
                }
            }
            func notice(_ name: String, _ channels: [String]) async throws -> Notice {
                let notice = try await others.notice(connectionCount: 2) { _, lane in
                    try await Psql.run(
                        Self.flood(channels, pair, milliseconds: 500, perCommit: lane == 0 ? 1 : 500), conninfo: shop)
                }
                print("attack: \(name): \(notice), ratio \(String(format: "%.2f", notice.ratio))")
                return notice
            }
            // On a machine of two cores the loops themselves cost others their time.
            _ = try await notice("loops without a notification", [])
            let notice = try await notice(name, channels)
            #expect(notice.during.refusedCount == 0 && notice.roundCount > 0, "\(notice)")
            isOver.set()
            try await used.value
            let answers = try await polled.value
            for foreign in ["FORGED", "AQAB", "}}]]"] {
                #expect(!answers.contains { $0.contains(foreign) }, "\(foreign)")
            }
            for real in ["\"typing\"", "\"real\""] {
                #expect(answers.contains { $0.contains(real) }, "\(real) in \(answers)")
            }
            for node in [nodes.a, nodes.b] { #expect(try await node.metric("parley_log_gaps_total") == 0) }
        }

        @Test("floods the channels that it can name, with garbage and forged events")
        func floods() async throws {
            let stage = try await Stage.open()
            try await stage.whileLocksAreHeld {
                try await attack("a flood of channels", ["parley_log", "parley_presence", "x"], stage)
            }
            try await stage.close()
        }

        @Test("floods the nodes' channels, had it their names")
        func knownChannels() async throws {
            let stage = try await Stage.open()
            let names = try await Psql.run("select log, presence from public.node_channels", conninfo: stage.superuser)
            try await attack("a flood of the nodes' channels", names.split(separator: "|").map { String($0) }, stage)
            try await stage.close()
        }
    }
}
