// The one list of `parley bench`'s flags, for parsing and help. Unlike settings they are flags only, so that a command
// line describes its measurement completely.
import CommandLineFlags

/// A flag of `parley bench WORKLOAD`.
package struct BenchFlag: Sendable {
    package let name: String
    /// The name of the value in the help; nil for a switch.
    package let placeholder: String?
    /// A phrase without a full stop.
    package let help: String
    package let workloads: Set<BenchSettings.Workload>
    package var isRepeatable = false
    package var defaultText = ""
    /// Whether the value is a connection string, which error messages never repeat.
    var isSecret = false
    /// Parses the text and stores the value. Returns the rest of a sentence ("is not …") if the value is invalid.
    let accept: @Sendable (String, inout BenchSettings) -> String?
}

extension BenchFlag {
    private static let everywhere = Set(BenchSettings.Workload.allCases)

    private init<Value>(
        _ name: String, _ field: WritableKeyPath<BenchSettings, Value> & Sendable, _ format: ValueFormat<Value>,
        _ placeholder: String, _ help: String, for workloads: Set<BenchSettings.Workload> = everywhere,
        default defaultText: String? = nil, isSecret: Bool = false
    ) {
        self.init(
            name: name, placeholder: placeholder, help: help, workloads: workloads,
            defaultText: defaultText ?? format.print(BenchSettings(.send)[keyPath: field]), isSecret: isSecret,
            accept: Self.accepting(format) { $1[keyPath: field] = $0 })
    }

    /// A flag that may be repeated.
    private init<Value>(
        _ name: String, list field: WritableKeyPath<BenchSettings, [Value]> & Sendable, _ format: ValueFormat<Value>,
        _ placeholder: String, _ help: String, for workloads: Set<BenchSettings.Workload> = everywhere,
        default defaultText: String = ""
    ) {
        self.init(
            name: name, placeholder: placeholder, help: help, workloads: workloads, isRepeatable: true,
            defaultText: defaultText, accept: Self.accepting(format) { $1[keyPath: field].append($0) })
    }

    private init(
        _ name: String, switch field: WritableKeyPath<BenchSettings, Bool> & Sendable, _ help: String,
        for workloads: Set<BenchSettings.Workload> = everywhere
    ) {
        self.init(name: name, placeholder: nil, help: help, workloads: workloads) { _, settings in
            settings[keyPath: field] = true
            return nil
        }
    }

    private static func accepting<Value>(
        _ format: ValueFormat<Value>, _ store: @escaping @Sendable (Value, inout BenchSettings) -> Void
    ) -> @Sendable (String, inout BenchSettings) -> String? {
        { text, settings in
            guard let value = format.parse(text) else { return "is not \(format.expectation)" }
            store(value, &settings)
            return nil
        }
    }

    /// All flags, in the order of the help.
    package static let all: [BenchFlag] = [
        BenchFlag(
            "--url", list: \.urls, .httpURL, "URL",
            "address of a running node; repeat the flag to spread connections over several nodes (latency: the sender "
                + "uses the first, the poller the last)", default: "http://127.0.0.1:8080"),
        BenchFlag(
            "--seconds", \.seconds, .integer(1...86_400), "SECONDS", "how long to measure",
            for: everywhere.subtracting([.client])),
        BenchFlag(
            "--messages", \.messageCount, .optional(.integer(1...100_000_000)), "COUNT",
            "send: measure until this many messages are answered, instead of --seconds; client: messages of each thread",
            for: [.send, .client], default: "client 100"),
        BenchFlag(
            "--warm-up", \.warmUpSeconds, .integer(0...600), "SECONDS", "load the nodes for this time before measuring",
            for: [.send, .latency, .mixed, .changes]),
        BenchFlag(
            "--connections", \.connectionCount, .integer(2...20_000), "COUNT",
            "connections that send; two share a thread, each for its own user", for: [.send, .changes]),
        BenchFlag(
            "--bytes", \.textByteCount, .integer(1...16_384), "COUNT", "length of each message text",
            for: [.send, .latency, .fanout, .mixed, .client, .changes]),
        BenchFlag(
            "--rate", \.rate, .optional(.integer(1...100_000)), "COUNT",
            "per second: messages (latency, fanout) or calls (mixed)", for: [.latency, .fanout, .mixed],
            default: "latency 50, fanout 1, mixed 500"),
        BenchFlag(
            "--members", list: \.memberCounts, .integer(1...100_000), "COUNT",
            "members who wait in the room; repeat the flag for several runs", for: [.fanout], default: "500 and 2000"),
        BenchFlag("--polls", \.pollCount, .integer(1...100_000), "COUNT", "waiting polls", for: [.idle]),
        BenchFlag(
            "--users", \.userCount, .integer(10...100_000), "COUNT", "users, each with its own poll",
            for: [.mixed]),
        BenchFlag(
            "--threads", \.threadCount, .optional(.integer(1...10_000)), "COUNT",
            "send: threads, dealt to the pairs of connections, which send to theirs in turn; client: group threads of "
                + "the client's account", for: [.send, .client], default: "send half of --connections, client 1000"),
        BenchFlag(
            "--direct", \.directPercent, .integer(0...100), "PERCENT",
            "share of direct threads; the others are groups of ten, of whom two send", for: [.send]),
        BenchFlag(
            "--loops", \.loopCount, .integer(1...64), "COUNT", "event loops of the load generator, one thread each",
            for: [.send, .fanout, .idle, .mixed, .changes]),
        BenchFlag(
            "--baseline", switch: \.isBaseline,
            "measure in turns with a baseline: pgbench with one transaction per message (send; needs --database and "
                + "the right to create a database), nginx with nchan (fanout)", for: [.send, .fanout]),
        BenchFlag(
            "--old-snapshot", switch: \.isOldSnapshot,
            "measure in turns without and with a transaction that holds an old snapshot, as a backup does (needs "
                + "--database and the right to run checkpoints)", for: [.send]),
        BenchFlag(
            "--rounds", \.roundCount, .integer(1...100), "COUNT",
            "rounds with the baseline or the snapshot, with the reader, or of each phase of the client; the report shows "
                + "the median", for: [.send, .fanout, .client, .changes]),
        BenchFlag(
            "--admin-token", \.adminToken, .optional(.adminToken), "TOKEN", "the nodes' PARLEY_ADMIN_TOKEN",
            for: [.changes],
            isSecret: true),
        BenchFlag(
            "--database", \.databaseURL, .optional(.connectionString), "URL",
            "PostgreSQL of the nodes, to insert accounts directly: registering takes 75 ms each",
            isSecret: true),
        BenchFlag(
            "--server-pid", list: \.serverPIDs, .integer(1...4_194_304), "PID",
            "process id of a node on this machine, to report its processor time and memory; repeat the flag for several"
        ),
        BenchFlag(
            "--postgres-pid", \.postgresPID, .optional(.integer(1...4_194_304)), "PID",
            "process id of PostgreSQL's main process on this machine, to report what it and its children use"),
        BenchFlag("--json", switch: \.isJSON, "print the report as one JSON object"),
    ]
}

extension BenchSettings {
    /// Parses the flags after the workload's name, and reports all mistakes together.
    static func load(_ workload: Workload, arguments: [String]) throws(ConfigurationErrors) -> BenchSettings {
        let known = BenchFlag.all.filter { $0.workloads.contains(workload) }
        let flags = Flags(
            arguments, known: known.map(\.name), switches: Set(known.filter { $0.placeholder == nil }.map(\.name)),
            repeatable: Set(known.filter(\.isRepeatable).map(\.name)), of: "bench \(workload.rawValue)")
        var settings = BenchSettings(workload)
        var mistakes = flags.mistakes
        for flag in known {
            for text in flags.lists[flag.name] ?? [] {
                guard let rejection = flag.accept(text, &settings) else { continue }
                mistakes.append("\(flag.name): \(flag.isSecret ? "the value" : text.quoted) \(rejection).")
            }
        }
        if mistakes.isEmpty { mistakes = settings.contradictions }
        if !mistakes.isEmpty { throw ConfigurationErrors(mistakes: mistakes) }
        if settings.urls.isEmpty { settings.urls = ["http://127.0.0.1:8080"] }
        if settings.memberCounts.isEmpty { settings.memberCounts = [500, 2000] }
        return settings
    }

    /// One sentence for each rule about several flags that the settings break.
    private var contradictions: [String] {
        var found: [String] = []
        if workload == .send, isBaseline, databaseURL == nil {
            found.append("--baseline runs on the nodes' PostgreSQL: set its address with --database.")
        }
        if isOldSnapshot, databaseURL == nil {
            found.append("--old-snapshot opens a transaction in the nodes' database: set its address with --database.")
        }
        if isOldSnapshot, isBaseline {
            found.append("--baseline and --old-snapshot need separate runs: remove one of them.")
        }
        if messageCount != nil, isBaseline {
            found.append("--baseline measures for --seconds: remove --messages.")
        }
        if workload == .changes, adminToken == nil {
            found.append("The changes feed needs the nodes' admin token: set --admin-token.")
        }
        if [.send, .changes].contains(workload), connectionCount % 2 == 1 {
            found.append("--connections must be even, because two connections share a thread.")
        }
        if workload == .send, let threadCount, threadCount < connectionCount / 2 {
            found.append("--threads must be at least half of --connections, because two connections share a thread.")
        }
        return found
    }
}
