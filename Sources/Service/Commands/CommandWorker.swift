// Answers messages that run commands: it calls the command's address, and its bot replies in the thread.
import Domain
import Logging
import Outbound
import ServiceConfiguration
import Store
import Telemetry
import Webhooks
import Workers

/// Runs on every node. A node claims each run by a lease, so nodes share the work and finish what a dead node started.
/// The address may get a message twice, the thread gets one reply.
struct CommandWorker: Sendable {
    /// How long requests under way may continue while the node stops.
    private static let closeMax = Duration.seconds(2)
    private static let unsentWait = Duration.seconds(1)

    let store: Store
    let limits: Limits
    let metrics: CommandMetrics
    private let clients: CommandClients
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
    func run() async throws {
        try await withTaskCancellationHandler {
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask {
                    while true {
                        wakeUps.wake()
                        try await Ticker.sleep()
                    }
                }
                for await _ in wakeUps {
                    for run in try await claim() {
                        metrics.running.add(1, ordering: .relaxed)
                        group.addTask { await answer(run) }
                    }
                }
            }
        } onCancel: {
            clients.close(within: Self.closeMax)
        }
    }

    /// Claims as many runs as there is room for. After a failure the next tick repeats the call.
    private func claim() async throws -> [CommandRun] {
        let room = CommandLimits.nodeRunningCountMax - metrics.running.load(ordering: .relaxed)
        guard room > 0 else { return [] }
        return try await searching.attempt { try await store.stepCommands(limit: room) } ?? []
    }

    /// Performs one try, and records what became of it.
    private func answer(_ run: CommandRun) async {
        defer {
            metrics.running.subtract(1, ordering: .relaxed)
            // There is room for the next one.
            wakeUps.wake()
        }
        let verdict =
            if let refusal = run.refusal { CommandVerdict.failed(.init(refusal)) } else { await verdict(on: run) }
        // Cancelled: the node stops. Another node claims the run when the lease ends.
        _ = try? await recording.retry { try await record(verdict, of: run) }
    }

    private func verdict(on run: CommandRun) async -> CommandVerdict {
        let request = CommandRequest(
            event: run.event, at: run.sentAt, word: run.word, arguments: run.arguments, thread: run.key.thread,
            content: run.message, sender: run.sender)
        let transfer = request.transfer(
            to: run.target.url, secrets: run.target.secrets.map(WebhookSecret.init), limits: limits, now: UnixTime.now)
        do {
            return CommandVerdict(.success(try await clients.perform(transfer, of: run.key.command)), limits: limits)
        } catch {
            return CommandVerdict(.failure(error), limits: limits)
        }
    }

    private func record(_ verdict: CommandVerdict, of run: CommandRun) async throws {
        switch verdict {
        case .answered(let payload):
            try await end(run, payload, as: payload == nil ? .silent : .replied)
        case .gone:
            log.warning(
                "a command is disabled: its address answered 410; enable it when it works again", reason: run.word)
            try await end(run, CommandFailure.disabled.payload(of: run.word), as: .gone)
        case .failed(let failure):
            if run.refusal == nil, run.tryCount < CommandLimits.retryWaits.count {
                log.warning("a command failed; it is retried", reason: "\(run.word): \(failure.reason)")
                try await putOff(run, CommandLimits.retryWaits[run.tryCount])
            } else {
                log.warning(
                    "a command failed for the last time; its bot replied with the reason",
                    reason: "\(run.word): \(failure.reason)")
                try await end(run, failure.payload(of: run.word), as: .failed)
            }
        case .unsent:
            _ = try await store.putOffCommandRun(
                run.key, waitMs: Task.isCancelled ? 0 : Self.unsentWait.milliseconds, isTried: false)
        }
    }

    private func end(_ run: CommandRun, _ payload: JSONText?, as outcome: CommandMetrics.Outcome) async throws {
        let reply = MessageID(replyTo: run.key.message, of: run.key.command)
        guard
            try await store.settleCommandRun(run.key, reply: reply, payload: payload, isGone: outcome == .gone)
        else { return }
        metrics.runs.add(outcome)
        metrics.delays.record(.milliseconds(UnixTime.nowMs - run.sentAt.microsSince1970 / 1_000))
    }

    private func putOff(_ run: CommandRun, _ wait: Duration) async throws {
        if try await store.putOffCommandRun(run.key, waitMs: wait.milliseconds, isTried: true) {
            metrics.runs.add(.retried)
        }
    }
}

extension Duration {
    fileprivate var milliseconds: Int { Int(self / .milliseconds(1)) }
}

extension CommandFailure {
    fileprivate init(_ refusal: CommandRun.Refusal) {
        switch refusal {
        case .disabled: self = .disabled
        case .busy: self = .busy
        }
    }

    /// The payload of the bot's message.
    fileprivate func payload(of word: String) -> JSONText {
        JSONText(.object([.init("text", .string(text(of: word)))]))
    }
}
