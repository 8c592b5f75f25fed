// The metrics of commands.
import Synchronization
import Telemetry
import Webhooks

final class CommandMetrics: Sendable {
    let runs = LabelledCounters<CommandOutcome>()
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
        text.gauge(
            "parley_command_requests_running", "Requests to commands under way from this node.",
            running.load(ordering: .relaxed))
        text.histogram(
            "parley_command_delay_seconds", "Time from a message to the end of its command, retries included.",
            delays.values)
    }
}
