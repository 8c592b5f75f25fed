// The one list of `parley bench`'s flags. Parsing and help come from it. Unlike the service's settings they are flags
// only: a measurement says on its command line what it was.

/// A flag of `parley bench WORKLOAD`.
package struct BenchFlag: Sendable {
    package let name: String
    /// What stands for the value in the help; nil for a switch.
    package let placeholder: String?
    /// A phrase without a full stop.
    package let help: String
    package let workloads: Set<BenchSettings.Workload>
    package let isRepeatable: Bool
    package let defaultText: String
    /// A connection string, which is never repeated in a complaint.
    let isSecret: Bool
    /// Puts the text's value in its place; the sentence's rest ("is not …") for an illegal one.
    let accept: @Sendable (String, inout BenchSettings) -> String?

    private static let everywhere = Set(BenchSettings.Workload.allCases)

    private init<Value>(
        _ name: String, _ field: WritableKeyPath<BenchSettings, Value> & Sendable, _ format: ValueFormat<Value>,
        _ placeholder: String, _ help: String, for workloads: Set<BenchSettings.Workload> = everywhere,
        default defaultText: String? = nil, isSecret: Bool = false
    ) {
        self.name = name
        self.placeholder = placeholder
        self.help = help
        self.workloads = workloads
        self.isSecret = isSecret
        self.defaultText = defaultText ?? format.print(BenchSettings(.send)[keyPath: field])
        isRepeatable = false
        accept = { text, settings in
            guard let value = format.parse(text) else { return "is not \(format.expectation)" }
            settings[keyPath: field] = value
            return nil
        }
    }

    /// One that may be given several times.
    private init<Value>(
        _ name: String, list field: WritableKeyPath<BenchSettings, [Value]> & Sendable, _ format: ValueFormat<Value>,
        _ placeholder: String, _ help: String, for workloads: Set<BenchSettings.Workload> = everywhere,
        default defaultText: String = ""
    ) {
        self.name = name
        self.placeholder = placeholder
        self.help = help
        self.workloads = workloads
        self.defaultText = defaultText
        isSecret = false
        isRepeatable = true
        accept = { text, settings in
            guard let value = format.parse(text) else { return "is not \(format.expectation)" }
            settings[keyPath: field].append(value)
            return nil
        }
    }

    private init(
        _ name: String, switch field: WritableKeyPath<BenchSettings, Bool> & Sendable, _ help: String,
        for workloads: Set<BenchSettings.Workload> = everywhere
    ) {
        self.name = name
        self.help = help
        self.workloads = workloads
        placeholder = nil
        defaultText = ""
        isSecret = false
        isRepeatable = false
        accept = { _, settings in
            settings[keyPath: field] = true
            return nil
        }
    }

    /// In the order in which people read them.
    package static let all: [BenchFlag] = [
        BenchFlag(
            "--url", list: \.urls, .httpURL, "URL",
            "a running node; several times for several, which the connections are spread over (latency: the sender "
                + "uses the first, the poller the last)", default: "http://127.0.0.1:8080"),
        BenchFlag("--seconds", \.seconds, .integer(1...86_400), "SECONDS", "how long to measure"),
        BenchFlag(
            "--messages", \.messageCount, .optional(.integer(1...100_000_000)), "COUNT",
            "measure until so many are answered, in place of --seconds", for: [.send]),
        BenchFlag(
            "--warm-up", \.warmUpSeconds, .integer(0...600), "SECONDS", "how long to load the nodes before",
            for: [.send, .latency, .mixed]),
        BenchFlag(
            "--connections", \.connectionCount, .integer(2...20_000), "COUNT",
            "connections that send, each for a user of its own; two make a direct thread", for: [.send]),
        BenchFlag(
            "--bytes", \.textByteCount, .integer(1...16_384), "COUNT", "length of each text",
            for: [.send, .latency, .fanout, .mixed]),
        BenchFlag(
            "--rate", \.rate, .optional(.integer(1...100_000)), "COUNT",
            "a second: messages (latency, fanout) or calls (mixed)", for: [.latency, .fanout, .mixed],
            default: "latency 50, fanout 1, mixed 500"),
        BenchFlag(
            "--members", list: \.memberCounts, .integer(1...100_000), "COUNT",
            "members who wait in the room; several times for several runs", for: [.fanout], default: "500 and 2000"),
        BenchFlag("--polls", \.pollCount, .integer(1...100_000), "COUNT", "waiting polls", for: [.idle]),
        BenchFlag(
            "--users", \.userCount, .integer(10...100_000), "COUNT", "people, each with a poll of their own",
            for: [.mixed]),
        BenchFlag(
            "--loops", \.loopCount, .integer(1...64), "COUNT", "event loops of the load generator, each a thread",
            for: [.send, .fanout, .idle, .mixed]),
        BenchFlag(
            "--baseline", switch: \.isBaseline,
            "measure in turns with what it is compared with: pgbench with a transaction a message (send; wants "
                + "--database and the right to create one), nginx with nchan (fanout)", for: [.send, .fanout]),
        BenchFlag(
            "--old-snapshot", switch: \.isOldSnapshot,
            "measure in turns without and with a transaction that holds a snapshot from before the turn, as a backup does "
                + "(wants --database and the right to take checkpoints)", for: [.send]),
        BenchFlag(
            "--rounds", \.roundCount, .integer(1...100), "COUNT",
            "turns with the baseline or the snapshot; the median counts", for: [.send, .fanout]),
        BenchFlag(
            "--database", \.databaseURL, .optional(.connectionString), "URL",
            "the nodes' PostgreSQL: accounts are inserted there at once, where registering takes 75 ms each",
            isSecret: true),
        BenchFlag(
            "--server-pid", list: \.serverPIDs, .integer(1...4_194_304), "PID",
            "a node's process on this machine, to say what it takes; several times for several"),
        BenchFlag(
            "--postgres-pid", \.postgresPID, .optional(.integer(1...4_194_304)), "PID",
            "PostgreSQL's first process on this machine, to say what it and its children take"),
        BenchFlag("--json", switch: \.isJSON, "print the report as one JSON object"),
    ]
}

extension BenchSettings {
    /// Reads the flags after the workload's name, and reports everything that is wrong at once.
    static func load(_ workload: Workload, arguments: [String]) throws(ConfigurationErrors) -> BenchSettings {
        let known = BenchFlag.all.filter { $0.workloads.contains(workload) }
        let flags = Flags(
            arguments, known: Set(known.map(\.name)), switches: Set(known.filter { $0.placeholder == nil }.map(\.name)),
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

    /// What no flag can say alone, as whole sentences.
    private var contradictions: [String] {
        var found: [String] = []
        if workload == .send, isBaseline, databaseURL == nil {
            found.append("--baseline runs on the nodes' PostgreSQL: say where it is with --database.")
        }
        if isOldSnapshot, databaseURL == nil {
            found.append("--old-snapshot is taken in the nodes' database: say where it is with --database.")
        }
        if isOldSnapshot, isBaseline {
            found.append("--baseline and --old-snapshot are measured in a run each.")
        }
        if messageCount != nil, isBaseline {
            found.append("--baseline is measured for --seconds, and so is what is beside it: leave out --messages.")
        }
        if workload == .send, connectionCount % 2 == 1 {
            found.append("--connections is odd, but two connections make a thread.")
        }
        return found
    }
}
