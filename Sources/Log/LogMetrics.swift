// Metrics of the log's components. Each component owns its metrics and writes them without a lock.
import Telemetry

/// One stream of batched writes.
package final class BatchMetrics: Sendable {
    /// Items in a call.
    package let sizes = Histogram(.items)
    /// From submitting an item to the beginning of its call.
    package let waits = Histogram(.seconds)
    /// From sending a call to its answer: the statement and its commit, including failed attempts.
    package let calls = Histogram(.seconds)
    package let failures = Counter()
    /// Items refused because the queue was full, or that waited for too long.
    package let refusals = Counter()

    init() {}
}

/// A node's reading of the log.
package final class TailMetrics: Metrics {
    /// Why the log was read.
    package enum Cause: String, CaseIterable, Sendable {
        case notify, turn, safety, poll, own
    }

    package let events = LabelledCounters<Cause>(
        "parley_log_events_total",
        "Events delivered by this node's tail, by `cause` of the read: notify (a notification), turn (between this node's "
            + "own writes), safety (the read twice a second), poll (a poll that does not wait), own (events that this node "
            + "wrote, mostly delivered without a read).",
        by: "cause")
    package let reads = LabelledCounters<Cause>(
        "parley_log_reads_total", "Reads of the log that found events, by `cause`.", by: "cause")
    package let deliveries = Histogram(
        "parley_log_delivery_seconds",
        "Time from a notification's arrival until its events are handed to the waiting polls, by this node's clock.")
    package let ages = Histogram(
        "parley_log_event_age_seconds",
        "Age of events at delivery. Compares the database's clock before the commit with this node's clock.")
    package let gaps = Counter(
        "parley_log_gaps_total", "Missing log positions. Any value but 0 is a fault of the database.")
    package let epochs = Counter(
        "parley_log_epochs_total", "New epochs of the log, opened without a loss for this node.")
    package let restarts = Counter(
        "parley_log_restarts_total",
        "Times this node dropped its caches: the log had lost its tail, or was trimmed beyond what the node had read.")
    package let failures = Counter()

    init() {}
}
