// What the log's parts count, for /metrics. Each part owns its figures and writes them without a lock.
import Telemetry

/// One stream of batched writes.
package final class BatchMetrics: Sendable {
    /// Items of a call.
    package let sizes = Histogram(.items)
    /// From an item's being submitted to its call's beginning.
    package let waits = Histogram(.seconds)
    /// From a call's being sent to its answer: the statement and its commit, tries that failed included.
    package let calls = Histogram(.seconds)
    package let failures = Counter()
    /// Items that found the queue full.
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

    /// Reads that found something: after a notification, in turn with the node's own writing, now and then for safety, for
    /// a poll that doesn't wait, or because what this node had written came after what others wrote. Events of `own` also
    /// count what needed no read.
    package let notified = Cause()
    package let turn = Cause()
    package let safety = Cause()
    package let asked = Cause()
    package let own = Cause()
    /// From a notification's arrival to the handing of its events to the waiting polls, both on this node's clock.
    package let deliveries = Histogram(.seconds)
    /// From an event's `at` to the same, a value an event. `at` is stamped before the commit, by the database's clock:
    /// good as far as the two clocks agree.
    package let ages = Histogram(.seconds)
    package let failures = Counter()
    /// Positions that were missing: the log's one promise broken. Zero, or a fault of the database.
    package let gaps = Counter()
    /// Times the log went on in a new epoch, with all in it that this node had read.
    package let epochs = Counter()
    /// Times the node dropped its caches: the log had lost its tail, or no longer kept what came next.
    package let restarts = Counter()

    init() {}
}
