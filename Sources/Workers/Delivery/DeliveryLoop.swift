// The one loop of the workers that claim, send and record. A schedule decides; the loop performs.
import Synchronization

/// The present time by both clocks: pauses and leases are measured by the monotonic one, and the database stores times of
/// the other.
package struct DeliveryTime: Sendable {
    package var instant: ContinuousClock.Instant
    /// Milliseconds since 1970.
    package var ms: Int64

    package init(instant: ContinuousClock.Instant, ms: Int64) {
        self.instant = instant
        self.ms = ms
    }
}

/// The time as a loop reads it and waits for it. Tests have a clock of their own.
package struct DeliveryClock: Sendable {
    package let now: @Sendable () -> DeliveryTime
    /// Ends early when the task is cancelled.
    package let sleep: @Sendable (Duration) async -> Void

    package init(
        now: @escaping @Sendable () -> DeliveryTime,
        sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        self.now = now
        self.sleep = sleep
    }
}

/// What a loop does next.
package enum DeliveryStep<Claim: Sendable, Settlement: Sendable>: Sendable {
    /// Claim or read more. Other steps wait for the end of this one.
    case claim(Claim)
    /// Record outcomes, while other steps follow.
    case settle(Settlement)
    /// Ask again after the next wake-up.
    case wait
    /// Nothing is under way, and nothing more is to be done.
    case end
}

/// The decisions of a loop: a `DeliveryQueue`, or a value with one inside. No I/O, and time is a parameter.
package protocol DeliverySchedule: Sendable {
    associatedtype Sending: Sendable
    associatedtype Claim: Sendable
    associatedtype Settlement: Sendable

    /// Whether nothing is under way.
    var isIdle: Bool { get }

    /// Returns what to send at once.
    mutating func sends(now: DeliveryTime) -> [Sending]
    /// Returns what to do next. `sends` comes first.
    mutating func step(now: DeliveryTime) -> DeliveryStep<Claim, Settlement>
    /// Records that there may be something to claim.
    mutating func wake()
    mutating func claimFailed()
    mutating func settlementFailed(_ settlement: Settlement)
    /// The node stops. `step` returns `end` once nothing is under way.
    mutating func close()
}

/// Claims, sends and records until it is closed. Cancellation of its task closes it: what is under way then has the time
/// that the sender gives it, and is recorded.
package final class DeliveryLoop<Schedule: DeliverySchedule>: Sendable {
    package typealias Sending = Schedule.Sending

    /// How requests are sent. Each sending is answered once, by `update`.
    package enum Sender: Sendable {
        /// Each in a task of its own, which reports its answer.
        case each(@Sendable (Sending) async -> Void)
        /// Together; the answers come later, on any thread.
        case together(@Sendable ([Sending]) -> Void)
    }

    private let schedule: Mutex<Schedule>
    private let claiming: Worker
    private let recording: Worker
    private let interval: Duration?
    private let pause: Duration?
    private let clock: DeliveryClock
    private let wakeUps = WakeUps()
    private let waitCount = Atomic(0)

    /// - Parameters:
    ///   - claiming: counts and logs claims that fail, and says when they are repeated.
    ///   - recording: the same for settlements.
    ///   - interval: between two looks for something to claim; nil if only `wake` makes the loop look.
    ///   - pause: between steps while something is under way, so that few calls have many items.
    package init(
        _ schedule: Schedule, claiming: Worker, recording: Worker, every interval: Duration? = nil,
        pause: Duration? = nil, clock: DeliveryClock
    ) {
        self.schedule = Mutex(schedule)
        self.claiming = claiming
        self.recording = recording
        self.interval = interval
        self.pause = pause
        self.clock = clock
    }

    /// How often there was nothing to do. Tests wait for it.
    package var passCount: Int { waitCount.load(ordering: .relaxed) }

    /// Reports something to the schedule, or reads it. From any thread; must be short.
    package func update<Value: Sendable>(_ body: (inout Schedule) -> Value) -> Value {
        schedule.withLock { body(&$0) }
    }

    /// Makes the loop look for something to claim. From any thread.
    @Sendable package func wake() {
        update { $0.wake() }
        wakeUps.wake()
    }

    /// Makes the loop look at its schedule. From any thread.
    package func stepSoon() { wakeUps.wake() }

    /// Runs until the schedule ends.
    ///
    /// - Parameters:
    ///   - refresh: called before each step.
    ///   - claim: claims, and reports what it got by `update`.
    ///   - settle: records, and reports that by `update`. Runs to its end although the task is cancelled.
    ///   - close: makes the sender answer what is under way within a bounded time.
    package func run(
        refresh: @Sendable () -> Void = {}, send: Sender, claim: @Sendable (Schedule.Claim) async throws -> Void,
        settle: @escaping @Sendable (Schedule.Settlement) async throws -> Void, close: @escaping @Sendable () -> Void
    ) async {
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                if let interval { group.addTask { await self.tick(interval) } }
                steps: while true {
                    refresh()
                    // Decided together: an item counts as under way before the end is looked for.
                    let now = clock.now()
                    let (sends, step) = update { ($0.sends(now: now), $0.step(now: now)) }
                    switch send {
                    case .together(let send): if !sends.isEmpty { send(sends) }
                    case .each(let send): for sending in sends { group.addTask { await send(sending) } }
                    }
                    switch step {
                    case .claim(let count): await perform(count, claim)
                    case .settle(let settlement): group.addTask { await self.perform(settlement, settle) }
                    case .wait: await rest()
                    case .end: break steps
                    }
                }
                group.cancelAll()
            }
        } onCancel: {
            update { $0.close() }
            close()
            wakeUps.wake()
        }
    }

    private func perform(_ step: Schedule.Claim, _ claim: (Schedule.Claim) async throws -> Void) async {
        do {
            try await claim(step)
        } catch {
            update { $0.claimFailed() }
            if Task.isCancelled { return }
            claiming.failed(error)
            await clock.sleep(claiming.retryAfter)
        }
    }

    private func perform(
        _ settlement: Schedule.Settlement, _ settle: (Schedule.Settlement) async throws -> Void
    ) async {
        do {
            try await settle(settlement)
        } catch {
            recording.failed(error)
            // It counts as under way meanwhile, so it is not repeated before.
            await clock.sleep(recording.retryAfter)
            update { $0.settlementFailed(settlement) }
        }
        wakeUps.wake()
    }

    private func rest() async {
        waitCount.add(1, ordering: .relaxed)
        if let pause, !Task.isCancelled, update({ !$0.isIdle }) {
            await clock.sleep(pause)
        } else {
            await wakeUps.wait()
        }
    }

    private func tick(_ interval: Duration) async {
        while !Task.isCancelled {
            wake()
            try? await Ticker.sleep(interval)
        }
    }
}

extension DeliveryLoop {
    /// Reports the end of an item that is under way. From any thread.
    ///
    /// - Parameter outcome: what is to be recorded; nil for nothing.
    package func answer<Item: Deliverable>(_ key: Item.Key, _ outcome: Item.Outcome?)
    where Schedule == DeliveryQueue<Item> {
        update { _ = $0.answered(key, outcome) }
        stepSoon()
    }
}
