// Parses the command line of `parley bench`.
import CommandLineFlags

/// The task that the command line gives `parley bench`.
package enum BenchInvocation: Sendable, Equatable {
    /// Print this text to standard output and exit with status 0.
    case show(String)
    case run(BenchSettings)
    /// A process that `parley bench client` has started.
    case runPhase(ClientPhaseRun)

    /// - Parameter arguments: the command line after `parley bench`.
    package static func parse(_ arguments: [String]) throws(ConfigurationErrors) -> BenchInvocation {
        let isHelp = { (argument: String) in ["--help", "-h"].contains(argument) }
        guard let word = arguments.first, !isHelp(word) else { return .show(BenchHelp.overview) }
        if word == ClientPhaseRun.word, let run = ClientPhaseRun(Array(arguments.dropFirst())) { return .runPhase(run) }
        guard let workload = BenchSettings.Workload(rawValue: word) else {
            let workloads = BenchSettings.Workload.allCases.map(\.rawValue)
            throw ConfigurationErrors(mistakes: [
                "\(word.quoted) is not a workload of parley bench. Workloads: \(workloads.joined(separator: ", "))."
                    + Suggestion.question(word, among: workloads)
            ])
        }
        if arguments.contains(where: isHelp) { return .show(BenchHelp.text(for: workload)) }
        return .run(try BenchSettings.load(workload, arguments: Array(arguments.dropFirst())))
    }
}
