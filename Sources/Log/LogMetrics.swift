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
package final class TailMetrics: Sendable {
    /// Why the log was read.
    package struct Cause: Sendable {
        package let reads = Counter()
        package let events = Counter()
    }

    /// Reads that found events, by cause: a notification, the node's own turn to write, the regular safety read, a poll
    /// that does not wait, or a write of this node that followed writes of others. `own` also counts events that needed
    /// no read.
    package let notified = Cause()
    package let turn = Cause()
    package let safety = Cause()
    package let asked = Cause()
    package let own = Cause()
    /// From the arrival of a notification to handing its events to the waiting polls, both by this node's clock.
    package let deliveries = Histogram(.seconds)
    /// From an event's `at` to the same, for each event. `at` is set before the commit, by the database's clock: as
    /// exact as the two clocks agree.
    package let ages = Histogram(.seconds)
    package let failures = Counter()
    /// Missing positions. Anything but zero is a fault of the database.
    package let gaps = Counter()
    /// How often the log continued in a new epoch, without losing what this node had read.
    package let epochs = Counter()
    /// How often the node dropped its caches, because the log had lost its tail, or its next events were trimmed.
    package let restarts = Counter()

    init() {}
}
