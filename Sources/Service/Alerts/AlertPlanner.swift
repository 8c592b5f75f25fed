// Decides from the log who is to be alerted of what. Sending is AlertDispatcher's.
import Domain
import Log
import Logging
import Store
import Synchronization
import Telemetry

/// Follows the log, a part at a time. Any number of nodes may; one works at a time.
struct AlertPlanner: Sendable {
    /// Events of a pass.
    private static let passLimit = 1_000
    /// From being made to being due: a device whose first poll is just arriving is known by then.
    private static let delayMs = 500
    /// The log stands still, but a node that was at it may have died.
    private static let checkInterval = Duration.seconds(15)

    let store: Store
    let lifeSeconds: Int
    let metrics: AlertPlannerMetrics
    /// Where the log has come to.
    let head: @Sendable () -> Position
    /// Hears that there are alerts that are due.
    let wake: @Sendable () -> Void
    let logger: Logger

    /// Runs until cancelled. While the log stands still and no device goes, it looks four times a minute.
    func run() async throws {
        let clock = ContinuousClock()
        var done: (head: Position, time: ContinuousClock.Instant)?
        var due: ContinuousClock.Instant?
        while true {
            if let time = due, clock.now >= time {
                due = nil
                wake()
            }
            let now = (head: head(), time: clock.now)
            if let done, !metrics.takeCall(), done.head == now.head, now.time - done.time < Self.checkInterval {
                try await Ticker.sleep()
                continue
            }
            do {
                let part = try await store.planAlerts(
                    limit: Self.passLimit, lifeSeconds: lifeSeconds, delayMs: Self.delayMs)
                metrics.note(part.madeCount, part.position)
                if part.madeCount > 0, due == nil { due = clock.now + .milliseconds(Self.delayMs) }
                if part.hasMore {
                    done = nil
                    // At most half of a connection's time, so that who sends hardly notices.
                    try await Task.sleep(for: clock.now - now.time)
                } else {
                    // Another node may be at it, and die.
                    done = part.position.map { $0 >= now.head } == true ? now : nil
                    try await Ticker.sleep()
                }
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                metrics.failures.add()
                logger.warning("deciding on alerts has to wait", metadata: ["reason": "\(error)"])
                try await Task.sleep(for: .seconds(2))
            }
        }
    }
}

/// What this node has decided.
final class AlertPlannerMetrics: Sendable {
    let made = Counter()
    let failures = Counter()
    private let position = Atomic<Int64>(0)
    private let isCalled = Atomic(false)

    /// There is something to do that the log doesn't tell of. From any thread.
    func call() { isCalled.store(true, ordering: .releasing) }

    func takeCall() -> Bool { isCalled.exchange(false, ordering: .acquiring) }

    func note(_ madeCount: Int, _ position: Position?) {
        made.add(madeCount)
        if let position { self.position.store(position.value, ordering: .relaxed) }
    }

    func write(to text: inout MetricsText) {
        text.gauge(
            "parley_push_position",
            "Up to where in the log it was decided who is to be alerted, when this node last looked.",
            Int(position.load(ordering: .relaxed)))
        text.counter("parley_push_made_total", "Alerts that this node decided on.", made.value)
        text.counter("parley_push_maker_failures_total", "Calls for that which failed.", failures.value)
    }
}
