// The load generator against real nodes, each workload for about a second. Checks that it works and detects faults.

import Foundation
import TestSupport
import Testing

@Suite("parley bench", .timeLimit(.minutes(5)))
struct BenchCommand {
    /// A separate node, its database, and a role with all rights there.
    private struct Target {
        let node: Node
        let database: String
        let cluster: TestCluster

        static func start(settings: [String: String] = [:]) async throws -> Target {
            let cluster = try await TestCluster.shared()
            let database = try await MigratedDatabase.create()
            let node = try await Node.start(database: database, settings: settings)
            return Target(node: node, database: database, cluster: cluster)
        }

        /// The flags that name the node, its process and its database.
        var flags: [String] {
            let name = database.firstMatch(of: /dbname='([a-z0-9_]+)'/).map { String($0.1) } ?? ""
            var flags = ["--url", node.address.description, "--server-pid", "\(node.program.pid)"]
            flags += ["--database", cluster.superuserConninfo() + " dbname='\(name)'"]
            if let pid = cluster.processID { flags += ["--postgres-pid", "\(pid)"] }
            return flags
        }
    }

    /// Returns the report of a run, which must succeed unless `isGood` is false.
    private func bench(
        _ workload: String, _ flags: [String], isGood: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> JSON {
        let outcome = try await Parley.run(["bench", workload, "--json"] + flags, within: .seconds(60))
        let report = try? JSON(parsing: Data(outcome.output.utf8))
        #expect(outcome.exit == .status(isGood ? 0 : 1), "\(outcome.errors)", sourceLocation: sourceLocation)
        #expect(report?["faults"].items.isEmpty == isGood, "\(outcome.output)", sourceLocation: sourceLocation)
        #expect(report?["workload"].string == workload, "\(outcome.errors)", sourceLocation: sourceLocation)
        return report ?? .null
    }

    private func expectTimes(_ times: JSON, sourceLocation: SourceLocation = #_sourceLocation) {
        for name in ["p50", "p90", "p99", "p99.9", "max"] {
            guard case .number(let ms) = times[name] else {
                Issue.record("\(name) is missing in \(times)", sourceLocation: sourceLocation)
                continue
            }
            #expect(ms > 0 && ms < 60_000, sourceLocation: sourceLocation)
        }
    }

    /// Expects plausible processor time, WAL and sizes of tables for each unit.
    /// - Parameter walMin: the fewest bytes of WAL; the cluster's other databases write some, too.
    private func expectUsage(
        _ report: JSON, per unit: String, prefix: String = "", suffix: String = "", walMin: Double = 200,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        func figure(_ name: String) -> JSON { report[prefix + name + suffix] }
        func expect(_ value: JSON, _ range: ClosedRange<Double>, _ name: String) {
            guard case .number(let number) = value, range.contains(number) else {
                Issue.record("\(name) is \(value), not in \(range)", sourceLocation: sourceLocation)
                return
            }
        }
        for part in ["generator", "service", "postgres"] {
            expect(figure("cpu_us_per_\(unit)")[part], 0...1_000_000, "cpu_us_per_\(unit) \(part)")
        }
        let wal = figure("wal_bytes_per_\(unit)")
        expect(wal["all"], walMin...10_000_000, "wal_bytes_per_\(unit)")
        if case .number(let all) = wal["all"], wal["full_page_images_max"] != .null {
            expect(wal["full_page_images_max"], 0...all, "full_page_images_max")
        }
        for table in ["messages", "events"] {
            for part in ["heap", "indexes", "toast", "all"] {
                expect(figure("disk_bytes_per_message")[table][part], 0...1_000_000, "\(table) \(part)")
            }
        }
        // A call has one message at least.
        expect(figure("batch_mean")["messages"], 1...10_000, "batch_mean")
    }

    @Test("send: counts acknowledged messages, finds them in the histories, and runs pgbench", .timeLimit(.minutes(1)))
    func send() async throws {
        let target = try await Target.start()
        let report = try await bench(
            "send",
            target.flags + [
                "--seconds", "1", "--warm-up", "0", "--connections", "8", "--loops", "2", "--baseline", "--rounds", "1",
            ])
        #expect(report["messages_per_s"].int ?? 0 > 10)
        #expect(report["acknowledged"].int ?? 0 >= report["messages_per_s"].int ?? .max)
        expectTimes(report["answer_ms"])
        #expect(report["round"][0]["baseline_per_s_16_clients"].int ?? 0 > 10)
        #expect(report["ratio_median"] != .null)
        for part in ["wait_ms", "call_ms"] { #expect(report["batch_mean"][part] != .null) }
        expectUsage(report, per: "message")
        #expect(report["notes"].items.contains { $0.string?.contains("is inexact") == true }, "\(report["notes"])")
        let left = try await target.cluster.psql("select count(*) from pg_database where datname like 'parley_bench%'")
        #expect(left == "0")
    }

    @Test("send: to direct threads and groups in turn, more threads than connections", .timeLimit(.minutes(1)))
    func sendMix() async throws {
        let target = try await Target.start()
        let report = try await bench(
            "send",
            target.flags + [
                "--messages", "400", "--warm-up", "0", "--connections", "8", "--loops", "2", "--threads", "40",
                "--direct", "60",
            ])
        #expect(report["threads"] == 40 && report["direct_threads"] == 24)
        guard case .number(let percent) = report["direct_percent"], (40...80).contains(percent) else {
            Issue.record("\(report["direct_percent"]) % of the messages went to direct threads")
            return
        }
        #expect(report["acknowledged"].int ?? 0 >= 400)
        let groups = try await target.cluster.psql(
            "select count(*) from threads t where t.kind = 'group' and t.member_count = 10", database: target.database)
        #expect(groups == "16")
    }

    @Test("send: leaves out the counters that the role may not read, and says so", .timeLimit(.minutes(1)))
    func sendWithoutRights() async throws {
        let target = try await Target.start()
        try await target.cluster.psql(
            """
            revoke execute on function pg_current_wal_insert_lsn() from public;
            revoke select on pg_stat_wal from public;
            """, database: target.database)
        let report = try await bench(
            "send",
            [
                "--url", target.node.address.description, "--database", target.database, "--seconds", "1", "--warm-up",
                "0", "--connections", "4",
            ])
        #expect(report["wal_bytes_per_message"] == .null)
        #expect(report["disk_bytes_per_message"]["messages"]["all"] != .null)
        #expect(report["cpu_us_per_message"]["service"] == .null && report["cpu_us_per_message"]["generator"] != .null)
        let notes = report["notes"].items.compactMap(\.string)
        for beginning in ["Processor time of the nodes", "Processor time of PostgreSQL", "WAL: ", "Full-page images: "]
        {
            #expect(notes.contains { $0.hasPrefix(beginning) }, "\(beginning) \(notes)")
        }
    }

    @Test("send: with and without a transaction that holds an old snapshot, alternately", .timeLimit(.minutes(1)))
    func sendBesideOldSnapshot() async throws {
        let target = try await Target.start()
        let report = try await bench(
            "send",
            target.flags + [
                "--messages", "400", "--warm-up", "0", "--connections", "8", "--old-snapshot", "--rounds", "2",
            ])
        #expect(report["messages"] == 400 && report["round"].items.count == 2)
        for round in report["round"].items {
            for turn in [round["without"], round["with"]] {
                // Messages answered at the same moment as the last one count, too.
                #expect((400...408).contains(turn["messages"].int ?? 0), "\(turn)")
                #expect(turn["messages_per_s"].int ?? 0 > 10, "\(turn)")
                expectUsage(turn, per: "message")
            }
            #expect(round["without"]["transactions_since_snapshot"] == .null)
            // Eight connections, so no call holds more than eight messages.
            #expect(round["with"]["transactions_since_snapshot"].int ?? 0 >= 50, "\(round)")
            #expect(round["ratio"] != .null)
        }
        #expect(report["ratio_median"] != .null)
        let held = try await target.cluster.psql(
            "select count(*) from pg_stat_activity where application_name = 'parley-bench'")
        #expect(held == "0")
    }

    @Test("latency: registers accounts and measures from one node to the other", .timeLimit(.minutes(1)))
    func latency() async throws {
        let nodes = try await TestNodes.shared()
        let report = try await bench(
            "latency",
            nodes.addresses.flatMap { ["--url", $0.description] } + [
                "--seconds", "1", "--warm-up", "1", "--rate", "40",
            ])
        #expect(report["messages"] == 40)
        #expect(report["lost"] == 0 && report["doubled"] == 0 && report["out_of_order"] == 0)
        expectTimes(report["send_to_poll_ms"])
        expectTimes(report["send_to_answer_ms"])
        // The command line names neither processes nor the database.
        #expect(report["cpu_us_per_message"]["service"] == .null && report["wal_bytes_per_message"] == .null)
        #expect(report["notes"].items.count == 3, "\(report["notes"])")
        #expect(report["batch_mean"]["messages"] != .null)
    }

    @Test("fanout: every member gets every message", .timeLimit(.minutes(1)))
    func fanout() async throws {
        let target = try await Target.start()
        let report = try await bench(
            "fanout",
            target.flags + ["--members", "20", "--members", "5", "--seconds", "1", "--rate", "5", "--loops", "2"])
        #expect(report["messages"] == 5)
        #expect(report["rooms"].items.map { $0["members"] } == [20, 5])
        for room in report["rooms"].items {
            expectTimes(room["parley_last_member_ms"])
            expectTimes(room["parley_median_member_ms"])
            expectUsage(room, per: "delivery", prefix: "parley_", walMin: 10)
        }
    }

    private static let hasNchan = FileManager.default.fileExists(
        atPath: "/usr/lib/nginx/modules/ngx_nchan_module.so")

    @Test("fanout: compared with nchan", .enabled(if: hasNchan, "nchan is not installed"), .timeLimit(.minutes(1)))
    func nchan() async throws {
        let target = try await Target.start()
        let report = try await bench(
            "fanout",
            target.flags + ["--members", "20", "--seconds", "1", "--rate", "20", "--baseline", "--rounds", "2"])
        expectTimes(report["rooms"][0]["nchan_last_member_ms"])
        #expect(report["rooms"][0]["ratio_of_last_ms_p50_by_round"].items.count == 2)
        #expect(report["rooms"][0]["ratio_median"] != .null)
    }

    @Test("idle: memory and processor time of waiting polls", .timeLimit(.minutes(1)))
    func idle() async throws {
        let target = try await Target.start()
        let report = try await bench("idle", target.flags + ["--polls", "200", "--seconds", "1", "--loops", "2"])
        #expect(report["polls"] == 200 && report["users"] == 200 && report["reconnects"] == 0)
        #expect(report["server_kib_waiting"]["rss"].int ?? 0 > 1000)
        #expect(report["kib_per_poll"]["rss"] != .null)
        #expect(report["cpu_percent_of_a_core"]["service"] != .null)
        #expect(report["cpu_us_per_renewed_poll"] != .null && report["wal_bytes_per_renewed_poll"] != .null)
    }

    @Test("mixed: every member gets every message while other calls run", .timeLimit(.minutes(1)))
    func mixed() async throws {
        let target = try await Target.start()
        let report = try await bench(
            "mixed",
            target.flags + [
                "--users", "20", "--seconds", "2", "--warm-up", "0", "--rate", "200", "--loops", "2", "--bytes",
                "16384",
            ])
        for call in ["send", "read", "page", "inbox"] {
            #expect(report["calls"][call].int ?? 0 > 0)
            expectTimes(report["\(call)_ms"])
        }
        expectTimes(report["send_to_poll_ms"])
        #expect(report["lost"] == 0 && report["doubled"] == 0 && report["out_of_order"] == 0)
        expectUsage(report, per: "call")
    }

    @Test("changes: the cost of a message without and with a reader of the feed", .timeLimit(.minutes(1)))
    func changes() async throws {
        let token = String(repeating: "a", count: 32)
        let target = try await Target.start(settings: ["PARLEY_ADMIN_TOKEN": token])
        let report = try await bench(
            "changes",
            target.flags + [
                "--admin-token", token, "--seconds", "2", "--warm-up", "0", "--connections", "8", "--rounds", "1",
            ])
        let round = report["round"][0]
        #expect(round["feed_events"].int ?? 0 > 10 && round["ratio"] != .null)
        for suffix in ["_without", "_with"] { expectUsage(round, per: "message", suffix: suffix) }
    }

    @Test("client: measures each phase of the client library in a process of its own", .timeLimit(.minutes(1)))
    func client() async throws {
        let target = try await Target.start()
        let report = try await bench(
            "client", target.flags + ["--threads", "12", "--messages", "60", "--rounds", "2", "--bytes", "40"])
        for (phase, marks) in [
            ("first_sync", ["signed_in_ms", "synced_ms"]), ("fill", ["filled_ms"]),
            ("cold_start", ["opened_ms", "inbox_ms", "timeline_ms", "live_ms"]),
            ("catch_up", ["opened_ms", "caught_up_ms"]), ("send", []),
        ] {
            for figure in marks + ["cpu_ms", "peak_mb"] {
                #expect(report[phase][figure].int ?? 1 > 0 && report[phase][figure] != .null, "\(phase) \(figure)")
            }
        }
        #expect(report["catch_up_events"] == 60)
        #expect(report["events_per_s"] != .null && report["store_mb"] != .null)
        expectTimes(report["send_to_sent_ms"])
        expectUsage(report, per: "message", prefix: "send_")
    }

    @Test("fails when sends are answered with errors", .timeLimit(.minutes(1)))
    func wrongAnswers() async throws {
        let target = try await Target.start(settings: ["PARLEY_TEXT_BYTES_MAX": "50"])
        let report = try await bench(
            "send", target.flags + ["--seconds", "1", "--warm-up", "0", "--connections", "4"], isGood: false)
        #expect(report["faults"][0].string?.contains("answered 422") == true)
    }

    @Test("detects messages missing from a history", .timeLimit(.minutes(1)))
    func spoiledHistory() async throws {
        let target = try await Target.start()
        try await target.cluster.psql(
            """
            create function spoil() returns trigger language plpgsql as $$ begin
                delete from messages m where m.thread_id = new.thread_id and m.seq = 5;
                return null;
            end $$;
            create trigger spoil after insert on messages for each row when (new.seq = 6) execute function spoil();
            """, database: target.database)
        let report = try await bench(
            "send", target.flags + ["--seconds", "1", "--warm-up", "0", "--connections", "2"], isGood: false)
        #expect(report["faults"][0].string?.contains("6 follows 4") == true, "\(report)")
    }

    @Test("detects events that a poll missed or received twice", .timeLimit(.minutes(1)))
    func spoiledLog() async throws {
        let target = try await Target.start()
        // A second node, because a node does not read its own writes from the log.
        let other = try await Node.start(database: target.database)
        // In the log, and so in the polls of other nodes, the fifth message of a thread has the seq of the fourth.
        try await target.cluster.psql(
            """
            create function spoil() returns trigger language plpgsql as $$ begin
                if new.type = 'message.created' and new.seq = 5 then new.seq := 4; end if;
                return new;
            end $$;
            create trigger spoil before insert on events for each row execute function spoil();
            """, database: target.database)
        let flags = target.flags + ["--url", other.address.description]
        let report = try await bench(
            "latency", flags + ["--seconds", "1", "--warm-up", "0", "--rate", "20"], isGood: false)
        #expect(report["lost"] == 1 && report["doubled"] == 1 && report["out_of_order"] == 0)
    }

    /// Waits until pgbench has all its clients of the first round.
    private func pgbenchIsAtWork(_ target: Target) async throws {
        try await eventually("pgbench to start", every: .milliseconds(50)) {
            let sql = "select count(*) from pg_stat_activity where application_name = 'pgbench'"
            return try await target.cluster.psql(sql) == "16"
        }
    }

    @Test("ends at once when interrupted, and removes its baseline", .timeLimit(.minutes(1)))
    func interrupted() async throws {
        let target = try await Target.start()
        let line = [Parley.executable, "bench", "send", "--baseline", "--seconds", "60"] + target.flags
        let program = try await TestProcess.start(line)
        func databaseCount() async throws -> String {
            try await target.cluster.psql("select count(*) from pg_database where datname like 'parley_bench%'")
        }
        try await pgbenchIsAtWork(target)
        program.send(SIGINT)
        #expect(try await program.waitForExit(within: .seconds(10)) == .status(1))
        #expect(program.errors.hasSuffix("parley: interrupted.\n"), "\(program.errors)")
        #expect(try await databaseCount() == "0")
    }

    @Test("reports no result of a pgbench that has lost a client", .timeLimit(.minutes(1)))
    func spoiledBaseline() async throws {
        let target = try await Target.start()
        let line = [Parley.executable, "bench", "send", "--baseline", "--seconds", "2", "--connections", "2"]
        let program = try await TestProcess.start(line + target.flags)
        try await pgbenchIsAtWork(target)
        try await target.cluster.psql(
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pgbench' limit 1")
        #expect(try await program.waitForExit(within: .seconds(30)) == .status(1))
        #expect(program.errors.contains("parley: pgbench exited with status 2"), "\(program.errors)")
    }

    @Test("reports in one sentence why it cannot run", .timeLimit(.minutes(1)))
    func cannotRun() async throws {
        let outcome = try await Parley.run(["bench", "latency", "--url", "http://127.0.0.1:1"])
        #expect(outcome.exit == .status(1))
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.split(separator: "\n").last?.hasPrefix("parley: http://127.0.0.1:1: ") == true)
    }
}
