// Parses the command line of `parley bench`.
import Testing

@testable import Bench

@Suite("Invoking parley bench", .timeLimit(.minutes(1)))
struct InvokingBench {
    private func parse(_ arguments: String...) throws -> BenchInvocation { try BenchInvocation.parse(arguments) }

    private func mistakes(_ arguments: String...) -> [String] {
        do {
            _ = try BenchInvocation.parse(arguments)
            return []
        } catch {
            return error.mistakes
        }
    }

    @Test("runs a workload with its defaults")
    func defaults() throws {
        var settings = BenchSettings(.send)
        settings.urls = ["http://127.0.0.1:8080"]
        settings.memberCounts = [500, 2000]
        #expect(try parse("send") == .run(settings))
    }

    @Test("accepts every flag of a workload")
    func flags() throws {
        let invocation = try parse(
            "fanout", "--url", "http://a:1", "--url=http://b:2", "--seconds", "3", "--bytes", "7", "--rate", "2",
            "--members", "5", "--members", "50", "--loops", "2", "--baseline", "--rounds", "4", "--database",
            "dbname=x",
            "--server-pid", "11", "--server-pid", "12", "--postgres-pid", "13", "--json")
        var settings = BenchSettings(.fanout)
        settings.urls = ["http://a:1", "http://b:2"]
        settings.seconds = 3
        settings.textByteCount = 7
        settings.rate = 2
        settings.memberCounts = [5, 50]
        settings.loopCount = 2
        settings.isBaseline = true
        settings.roundCount = 4
        settings.databaseURL = "dbname=x"
        settings.serverPIDs = [11, 12]
        settings.postgresPID = 13
        settings.isJSON = true
        #expect(invocation == .run(settings))
    }

    @Test("accepts the flags that only sending has")
    func sendFlags() throws {
        let invocation = try parse(
            "send", "--messages", "500000", "--warm-up", "1", "--connections", "8", "--threads", "30", "--direct", "60",
            "--old-snapshot", "--database", "dbname=x"
        )
        var settings = BenchSettings(.send)
        settings.messageCount = 500_000
        settings.warmUpSeconds = 1
        settings.connectionCount = 8
        settings.threadCount = 30
        settings.directPercent = 60
        settings.isOldSnapshot = true
        settings.databaseURL = "dbname=x"
        settings.urls = ["http://127.0.0.1:8080"]
        settings.memberCounts = [500, 2000]
        #expect(invocation == .run(settings))
    }

    @Test("accepts the flags that only the client's workload has")
    func clientFlags() throws {
        let invocation = try parse("client", "--threads", "10", "--messages", "20", "--rounds", "1", "--bytes", "50")
        var settings = BenchSettings(.client)
        settings.threadCount = 10
        settings.messageCount = 20
        settings.roundCount = 1
        settings.textByteCount = 50
        settings.urls = ["http://127.0.0.1:8080"]
        settings.memberCounts = [500, 2000]
        #expect(invocation == .run(settings))
        #expect(
            mistakes("client", "--seconds", "1") == [
                "\"--seconds\" is not a flag of `parley bench client` (see --help)."
            ])
    }

    @Test("needs the admin token for the changes feed, and never repeats it")
    func changesFlags() throws {
        var settings = BenchSettings(.changes)
        settings.adminToken = "secret"
        settings.urls = ["http://127.0.0.1:8080"]
        settings.memberCounts = [500, 2000]
        #expect(try parse("changes", "--admin-token", "secret") == .run(settings))
        #expect(mistakes("changes") == ["The changes feed needs the nodes' admin token: set --admin-token."])
        #expect(mistakes("send", "--admin-token", "secret").count == 1)
    }

    @Test("accepts the processes that the client's workload starts")
    func clientPhase() throws {
        let run = try #require(ClientPhaseRun(["cold-start", "/tmp/x", "store1", "17"]))
        #expect(run.phase == .coldStart && run.directory == "/tmp/x" && run.store == "store1")
        #expect(run.began == MonotonicTime(nanoseconds: 17))
        #expect(try parse("client-phase", "cold-start", "/tmp/x", "store1", "17") == .runPhase(run))
        #expect(!mistakes("client-phase", "cold-start").isEmpty)
        #expect(!mistakes("client-phase", "warm-start", "/tmp/x", "store1", "17").isEmpty)
    }

    @Test("prints its workloads, and a workload's flags, in lines of at most 100 columns")
    func help() throws {
        #expect(try parse() == .show(BenchHelp.overview))
        #expect(try parse("--help") == .show(BenchHelp.overview))
        #expect(try parse("send", "--nonsense", "-h") == .show(BenchHelp.text(for: .send)))
        for workload in BenchSettings.Workload.allCases {
            let text = BenchHelp.text(for: workload)
            #expect(BenchHelp.overview.contains(workload.summary))
            for flag in BenchFlag.all {
                #expect(
                    text.contains("\n  \(flag.name)") == flag.workloads.contains(workload), "\(workload) \(flag.name)")
            }
            #expect(text.split(separator: "\n").allSatisfy { $0.count <= 100 })
        }
    }

    @Test("reports all mistakes at once, and never a password")
    func mistakes() {
        #expect(
            mistakes("sned") == [
                "\"sned\" is not a workload of parley bench. Workloads: send, latency, fanout, idle, mixed, client, changes."
                    + " Did you mean send?"
            ])
        #expect(
            mistakes("send", "--rate", "3", "--json=1", "--url", "x", "--seconds", "0", "--database", "secret") == [
                "\"--rate\" is not a flag of `parley bench send` (see --help).", "--json does not accept a value.",
                "--url: \"x\" is not an address of the form http://host:port.",
                "--seconds: \"0\" is not a whole number from 1 to 86400.",
                "--database: the value is not a PostgreSQL URL (postgresql://…) or libpq keywords (host=… dbname=…).",
            ])
        #expect(
            mistakes("send", "--baseline", "--connections", "3") == [
                "--baseline runs on the nodes' PostgreSQL: set its address with --database.",
                "--connections must be even, because two connections share a thread.",
            ])
        #expect(
            mistakes("send", "--connections", "8", "--threads", "3", "--direct", "101") == [
                "--direct: \"101\" is not a whole number from 0 to 100."
            ])
        #expect(
            mistakes("send", "--connections", "8", "--threads", "3") == [
                "--threads must be at least half of --connections, because two connections share a thread."
            ])
        // Sender and poller share one connection.
        #expect(
            mistakes("latency", "--loops", "2") == [
                "\"--loops\" is not a flag of `parley bench latency` (see --help)."
            ])
        #expect(
            mistakes("send", "--baseline", "--old-snapshot", "--messages", "5") == [
                "--baseline runs on the nodes' PostgreSQL: set its address with --database.",
                "--old-snapshot opens a transaction in the nodes' database: set its address with --database.",
                "--baseline and --old-snapshot need separate runs: remove one of them.",
                "--baseline measures for --seconds: remove --messages.",
            ])
        #expect(mistakes("send", "--seconds", "1", "--seconds", "2") == ["--seconds is given more than once."])
    }
}
