// The metrics of commands.
import Synchronization
import Telemetry

final class CommandMetrics: Sendable {
    /// How a try ended.
    enum Outcome: String, CaseIterable, Sendable {
        case replied
        /// The answer has no text.
        case silent
        /// It failed, and is retried.
        case retried
        /// It failed for the last time, or was refused.
        case failed
        /// 410, which disables the command.
        case gone
    }

    let runs = LabelledCounters<Outcome>()
    let failures = Counter()
    let delays = Histogram(.seconds)
    /// Requests under way.
    let running = Atomic(0)

    func write(to text: inout MetricsText) {
        text.counter(
            "parley_command_runs_total",
            "Tries of this node to answer commands, by outcome. `silent`: answered without a text. `retried`: failed, "
                + "and tried again later. `failed`: the bot said so. `gone`: 410, which disables the command.",
            runs.samples("outcome"))
        text.counter(
            "parley_command_failures_total", "Database calls for commands that failed and were retried.",
            failures.value)
        text.gauge(
            "parley_command_requests_running", "Requests to commands under way from this node.",
            running.load(ordering: .relaxed))
        text.histogram(
            "parley_command_delay_seconds", "Time from a message to the end of its command, retries included.",
            delays.values)
    }
}
