// Answers messages that run commands: it calls the command's address, and its bot replies in the thread.
import Basics
import Domain
import Logging
import Outbound
import ServiceConfiguration
import Store
import Synchronization
import Telemetry
import Webhooks
import Workers

/// Runs on every node. A node claims each run by a lease, so nodes share the work and finish what a dead node started.
/// The address may get a message twice, the thread gets one reply. `CommandSchedule` decides; this type performs.
final class CommandWorker: Sendable {
    /// How long requests under way may continue while the node stops.
    private static let closeMax = Duration.seconds(2)

    private let store: Store
    private let limits: Limits
    private let metrics: CommandMetrics
    private let clients: CommandClients
    private let schedule = Mutex(CommandSchedule<CommandRunKey>())
    private let searching: Worker
    private let recording: Worker
    private let log: RateLimitedLog
    private let wakeUps = WakeUps()

    init(_ settings: Settings, store: Store, metrics: CommandMetrics, logger: Logger) {
        self.store = store
        self.metrics = metrics
        limits = settings.limits
        clients = CommandClients(settings)
        searching = Worker(
            "looking for commands", retryAfter: Ticker.interval, failures: metrics.failures, logger: logger)
        recording = Worker("recording the answer of a command", failures: metrics.failures, logger: logger)
        log = RateLimitedLog(logger)
    }

    /// Runs until cancelled. Requests under way then have two seconds to end.
    @Sendable func run() async throws {
        try await withTaskCancellationHandler {
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { [wakeUps] in
                    while true {
                        wakeUps.wake()
                        try await Ticker.sleep()
                    }
                }
                for await _ in wakeUps {
                    for run in try await claim() {
                        group.addTask { await self.answer(run) }
                    }
                }
            }
        } onCancel: {
            schedule.withLock { $0.close() }
            clients.close(within: Self.closeMax)
        }
    }

    /// Claims as many runs as there is room for. After a failure the next tick repeats the call.
    private func claim() async throws -> [(run: CommandRun, settlement: CommandSettlement?)] {
        let room = schedule.withLock { $0.room }
        guard room > 0 else { return [] }
        let runs = try await searching.attempt { try await store.stepCommands(limit: room) } ?? []
        return schedule.withLock { schedule in
            defer { metrics.running.store(schedule.count, ordering: .relaxed) }
            return runs.map { ($0, schedule.claimed(.init($0))) }
        }
    }

    /// Performs one try, and records its outcome.
    private func answer(_ claimed: (run: CommandRun, settlement: CommandSettlement?)) async {
        let run = claimed.run
        var settlement = claimed.settlement
        if settlement == nil {
            let verdict = await verdict(on: run)
            settlement = schedule.withLock { $0.answered(run.key, verdict) }
        }
        guard let settlement else { return }
        report(settlement, of: run)
        // Nil if cancelled: the node stops. Another node claims the run when the lease ends.
        let isRecorded = try? await recording.retry { try await record(settlement.change, of: run) }
        let outcome = schedule.withLock { schedule in
            defer { metrics.running.store(schedule.count, ordering: .relaxed) }
            return schedule.settled(run.key, isRecorded: isRecorded ?? false)
        }
        if let outcome {
            metrics.runs.add(outcome)
            if outcome != .retried {
                metrics.delays.record(.milliseconds(WallClock.ms - run.sentAt.microsSince1970 / 1_000))
            }
        }
        // There is room for the next one.
        wakeUps.wake()
    }

    private func verdict(on run: CommandRun) async -> CommandVerdict {
        let request = CommandRequest(
            event: run.event, at: run.sentAt, word: run.word, arguments: run.arguments, thread: run.key.thread,
            content: run.message, sender: run.sender)
        let transfer = request.transfer(
            to: run.target.url, secrets: run.target.secrets.map(WebhookSecret.init), limits: limits,
            now: WallClock.seconds)
        do {
            return CommandVerdict(.success(try await clients.perform(transfer, of: run.key.command)), limits: limits)
        } catch {
            return CommandVerdict(.failure(error), limits: limits)
        }
    }

    private func report(_ settlement: CommandSettlement, of run: CommandRun) {
        switch (settlement.outcome, settlement.failure) {
        case (.gone, _):
            log.warning(
                "a command is disabled: its address answered 410; enable it when it works again", reason: run.word)
        case (.retried, let failure?):
            log.warning("a command failed; it is retried", reason: "\(run.word): \(failure.reason)")
        case (_, let failure?):
            log.warning(
                "a command failed for the last time; its bot replied with the reason",
                reason: "\(run.word): \(failure.reason)")
        case (_, nil): break
        }
    }

    /// Returns whether the claim lasted; otherwise nothing was recorded.
    private func record(_ change: CommandSettlement.Change, of run: CommandRun) async throws -> Bool {
        switch change {
        case .end(let reply, let isGone):
            try await store.settleCommandRun(
                run.key, reply: MessageID(replyTo: run.key.message, of: run.key.command), payload: reply,
                goneURL: isGone ? run.target.url : nil)
        case .putOff(let wait, let isTried):
            try await store.putOffCommandRun(run.key, waitMs: Int(wait / .milliseconds(1)), isTried: isTried)
        }
    }
}

extension CommandSchedule<CommandRunKey>.Run {
    fileprivate init(_ run: CommandRun) {
        let refusal: CommandFailure? =
            switch run.refusal {
            case .disabled: .disabled
            case .busy: .busy
            case nil: nil
            }
        self.init(key: run.key, word: run.word, tryCount: run.tryCount, refusal: refusal)
    }
}
