// The metrics of commands.
import Telemetry
import Webhooks

final class CommandMetrics: Metrics {
    let runs = LabelledCounters<CommandOutcome>(
        "parley_command_runs_total",
        "Tries of this node to answer commands, by `outcome`: replied, silent (no text), retried, failed (the bot said "
            + "so), gone (410, which disables the command).",
        by: "outcome")
    let running = Gauge("parley_command_requests_running", "Requests to commands under way from this node.")
    let delays = Histogram(
        "parley_command_delay_seconds", "Time from a message to the end of its command, retries included.")
    let failures = Counter()
}
