// `parley bench`: from settings to a report.
import Domain
import ServiceConfiguration

package enum Bench {
    /// Runs the workload and prints its report to standard output.
    ///
    /// - Throws: `BenchFailure` when it can't be run, or (after the report) when something was lost, doubled, out of
    ///   order or answered wrongly.
    package static func run(_ settings: BenchSettings) async throws {
        raiseFileLimit()
        let bench = try BenchRun(settings)
        let report =
            switch settings.workload {
            case .send: try await SendWorkload(bench).run()
            case .fanout: try await FanoutWorkload(bench).run()
            case .idle: try await IdleWorkload(bench).run()
            case .latency: try await LatencyWorkload(bench).run()
            case .mixed: try await MixedWorkload(bench).run()
            }
        print(settings.isJSON ? report.json : report.text)
        guard report.faults.isEmpty else { throw BenchFailure(report.faults.joined(separator: "; ")) }
    }
}

/// Why there is no figure, or none to trust.
package struct BenchFailure: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
