// `parley bench`: runs a workload and prints its report.
import Domain

package enum Bench {
    /// Runs the workload and prints its report to standard output.
    ///
    /// - Throws: `BenchFailure` when the workload cannot run, or (after the report) when an event was lost, duplicated
    ///   or out of order, or an answer was wrong.
    package static func run(_ settings: BenchSettings) async throws {
        raiseFileLimit()
        let bench = try BenchRun(settings)
        let report =
            switch settings.workload {
            case .send: try await SendWorkload(bench).run()
            case .fanout: try await FanoutWorkload(bench).run()
            case .idle: try await IdleWorkload(bench).run()
            case .latency: try await LatencyWorkload(bench).run()
            case .client: try await ClientWorkload(bench).run()
            case .mixed: try await MixedWorkload(bench).run()
            case .changes: try await ChangesWorkload(bench).run()
            }
        print(settings.isJSON ? report.json : report.text)
        guard report.faults.isEmpty else { throw BenchFailure(report.faults.joined(separator: "; ")) }
    }
}
