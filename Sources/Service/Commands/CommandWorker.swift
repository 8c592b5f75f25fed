// Answers messages that run commands: it calls the command's address, and its bot replies in the thread.
import API
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
/// The address may get a message twice, the thread gets one reply.
final class CommandWorker: Sendable {
    /// How long requests under way may continue while the node stops.
    private static let closeMax = Duration.seconds(2)

    private let store: Store
    private let limits: Limits
    fileprivate let metrics = CommandMetrics()
    private let clients: CommandClients
    private let loop: DeliveryLoop<DeliveryQueue<CommandRun>>
    private let log: RateLimitedLog

    init(_ settings: Settings, store: Store, logger: Logger) {
        self.store = store
        limits = settings.limits
        clients = CommandClients(settings)
        log = RateLimitedLog(logger)
        var queueLimits = DeliveryQueue<CommandRun>.Limits()
        queueLimits.heldCountMax = CommandLimits.nodeRunningCountMax
        // Each reply is posted as soon as it is there.
        queueLimits.settleCountMax = 1
        queueLimits.settlementCountMax = CommandLimits.nodeRunningCountMax
        loop = DeliveryLoop(
            DeliveryQueue(limits: queueLimits, now: .now),
            claiming: Worker(
                "looking for commands", retryAfter: Ticker.interval, failures: metrics.failures, logger: logger),
            recording: Worker("recording the answer of a command", failures: metrics.failures, logger: logger),
            every: Ticker.interval, clock: .system)
    }

    /// Runs until cancelled. Requests under way then have two seconds to end.
    @Sendable func run() async {
        await loop.run(
            send: .each { [self] run in
                let verdict = await verdict(on: run)
                let settlement = CommandSettlement(
                    verdict, of: run.word, tryCount: run.tryCount, isClosing: loop.update { $0.isClosing })
                report(settlement, of: run)
                loop.answer(run.key, CommandAnswered(run, settlement))
            },
            claim: { [self] limit in try await claim(limit) },
            settle: { [self] settlement in try await settle(settlement) },
            close: { [clients] in clients.close(within: Self.closeMax) })
    }

    private func claim(_ limit: Int) async throws {
        let runs = try await store.stepCommands(limit: limit)
        // A refused run gets a reply without a request.
        let refused = runs.compactMap { run in
            run.refusal.map { CommandAnswered(run, CommandSettlement(CommandFailure($0), of: run.word)) }
        }
        for answered in refused { report(answered.settlement, of: answered.run) }
        change { queue in
            for run in runs where run.refusal == nil { queue.add(run) }
            for answered in refused { queue.keep(answered.run.key, answered) }
            if runs.count == limit { queue.wake() }
        }
    }

    /// Records outcomes. A run whose claim was lost is not counted.
    private func settle(_ settlement: DeliverySettlement<CommandRun>) async throws {
        for answered in settlement.outcomes.values {
            guard try await record(answered.settlement.change, of: answered.run),
                let outcome = answered.settlement.outcome
            else { continue }
            metrics.runs.add(outcome)
            if outcome != .retried {
                metrics.delays.record(
                    .milliseconds(WallClock.ms - answered.run.sentAt.microsSince1970 / 1_000))
            }
        }
        change { $0.settled(settlement, now: .now) }
    }

    private func change(_ body: (inout DeliveryQueue<CommandRun>) -> Void) {
        loop.update { queue in
            body(&queue)
            metrics.running.set(queue.heldCount)
        }
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

/// The outcome of a try, with its run.
package struct CommandAnswered: Sendable {
    let run: CommandRun
    let settlement: CommandSettlement

    init(_ run: CommandRun, _ settlement: CommandSettlement) {
        self.run = run
        self.settlement = settlement
    }
}

extension CommandRun: Deliverable {
    package typealias Outcome = CommandAnswered
}

extension CommandFailure {
    fileprivate init(_ refusal: CommandRun.Refusal) {
        switch refusal {
        case .disabled: self = .disabled
        case .busy: self = .busy
        }
    }
}

extension Feature {
    /// The calls on commands, and answering them.
    static func commands(_ node: NodeCore) -> Feature {
        let worker = CommandWorker(node.settings, store: node.store, logger: node.logger)
        let metrics = worker.metrics
        return Feature(
            routes: CommandCalls(store: node.store, allowsPrivate: node.settings.pushAllowsPrivate).routes,
            components: [
                Component("commands", failures: [metrics.failures], metrics: metrics.write, run: worker.run)
            ])
    }
}
