// Decides from the log which devices get which alerts. AlertDispatcher sends them.
import Domain
import Log
import Logging
import Store
import Telemetry
import Workers

/// Follows the log, one part at a time. Runs on every node; one node works at a time.
struct AlertPlanner: Sendable {
    /// Events of a pass.
    private static let passLimit = 1_000
    /// From planning an alert to its being due. By then the node knows a device whose first poll is just arriving.
    private static let delayMs = 500
    /// The interval between passes while the log does not grow, because a node may have died in the middle of one.
    private static let checkInterval = Duration.seconds(15)

    let store: Store
    let lifeSeconds: Int
    let metrics: AlertPlannerMetrics
    /// Returns the log's head, as this node knows it.
    let head: @Sendable () -> Position
    /// Set when devices stopped polling: they may need alerts although the log does not grow.
    let devicesWentAway: Flag
    /// Called when alerts are due.
    let wake: @Sendable () -> Void
    let logger: Logger

    /// Runs until cancelled. While the log does not grow and no device leaves, it makes four calls a minute.
    func run() async throws {
        let clock = ContinuousClock()
        var done: (head: Position, time: ContinuousClock.Instant)?
        var due: ContinuousClock.Instant?
        let worker = Worker("planning alerts", failures: metrics.failures, logger: logger)
        try await worker.run {
            if let time = due, clock.now >= time {
                due = nil
                wake()
            }
            let now = (head: head(), time: clock.now)
            if let done, !devicesWentAway.take(), done.head == now.head, now.time - done.time < Self.checkInterval {
                return .idle
            }
            let part = try await store.planAlerts(
                limit: Self.passLimit, lifeSeconds: lifeSeconds, delayMs: Self.delayMs)
            metrics.made.add(part.madeCount)
            if let position = part.position { metrics.position.set(Int(position.value)) }
            if part.madeCount > 0, due == nil { due = clock.now + .milliseconds(Self.delayMs) }
            guard part.hasMore else {
                // If another node is planning, it may die before it has finished, so this node does not count as done.
                done = part.position.map { $0 >= now.head } == true ? now : nil
                return .idle
            }
            done = nil
            // Planning takes at most half of a connection's time, so that senders hardly notice.
            return .pause(clock.now - now.time)
        }
    }
}

final class AlertPlannerMetrics: Metrics {
    let position = Gauge(
        "parley_push_position", "Log position up to which alerts are planned, as of this node's last pass.")
    let made = Counter("parley_push_made_total", "Alerts planned by this node.")
    let failures = Counter()
}
