// `parley bench --help`, rendered from the list of flags.
import CommandLineFlags

enum BenchHelp {
    private static let summary = "Measure throughput, latency and cost of running nodes."

    /// `parley bench --help`.
    static let overview: String = {
        let workloads = BenchSettings.Workload.allCases.map { "  \($0.rawValue.padded(to: 10))\($0.summary)" }
        return """
            \(summary)

            Usage: parley bench WORKLOAD [--flag VALUE] …

            \(workloads.joined(separator: "\n"))

            `parley bench WORKLOAD --help` lists the flags of a workload. Bench leaves its accounts and
            messages in the database: use nodes and a database that hold nothing else.
            """
    }()

    /// `parley bench send --help`.
    static func text(for workload: BenchSettings.Workload) -> String {
        let rows = BenchFlag.all.filter { $0.workloads.contains(workload) }.map { flag in
            let value = flag.defaultText.isEmpty ? "" : " [\(flag.defaultText)]"
            return "  \(flag.name)\(flag.placeholder.map { " \($0)" } ?? "")\n"
                + HelpText.wrapped(flag.help + value, indent: 6)
        }
        return """
            \(workload.summary)

            Usage: parley bench \(workload.rawValue) [--flag VALUE] …

            Progress is printed to standard error once a second, the report to standard output. The exit
            status is not 0 if any event was lost, duplicated or out of order, or any answer was wrong.
            Defaults are in brackets.

            \(rows.joined(separator: "\n"))
            """
    }
}
