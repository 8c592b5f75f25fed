// Sends the mails that wait in the database.
import Basics
import Credentials
import Domain
import Foundation
import Log
import Logging
import Outbound
import ServiceConfiguration
import Store
import Telemetry
import Workers

/// Claims due mails, sends them and records the outcomes. Runs on every node. A claim is a lease: when it expires
/// without an outcome, another node sends the mail.
///
/// Each attempt makes its code just before sending, so only the code's hash is ever stored. If a relay's acceptance is
/// lost on the way, the mail is sent once more with another code: SMTP has no way to ask.
struct MailWorker: Sendable {
    /// The name of the mailed codes' flow in the password hasher's queue.
    private static let hashFlow = "mail"
    /// Mails on their way at once. More would hash more than a small machine has cores for.
    private static let laneCount = 4
    /// Between checks for a mail that another node left, or that is due again. A check costs an index probe.
    private static let interval = Duration.seconds(1)
    private static let sweepInterval = Duration.seconds(60)
    private static let sweepLimit = 1_000
    /// The length of a claim: what a transfer may take (30 s), with a margin for a busy machine.
    private static let leaseSeconds = 60
    /// How long transfers under way may continue while the node stops.
    private static let closeMax = Duration.seconds(2)

    private let metrics: MailMetrics
    private let store: Store
    private let hasher: PasswordHasher
    private let outbound: Outbound
    private let relay: MailRelay
    private let from: MailAddress
    private let appName: String
    private let logger: Logger
    private let sending: Worker
    private let wakeUps = WakeUps()

    /// Nil where no mail is configured.
    init?(
        _ settings: Settings, store: Store, hasher: PasswordHasher, metrics: MailMetrics, logger: Logger
    ) throws {
        guard let server = settings.mailServer, let sender = settings.mailSender,
            let from = MailAddress(name: sender.name ?? settings.appName, address: sender.address.text)
        else { return nil }
        self.store = store
        self.hasher = hasher
        self.metrics = metrics
        self.logger = logger
        self.from = from
        appName = settings.appName
        relay = MailRelay(server)
        outbound = try Outbound(caFile: settings.caFile, inFlightMax: Self.laneCount)
        sending = Worker("sending mail", retryAfter: Self.interval, failures: metrics.failures, logger: logger)
    }

    /// Makes the worker look for due mails. From any thread.
    @Sendable func wake() { wakeUps.wake() }

    /// Runs until cancelled. Mails on their way then have two seconds to arrive.
    func run() async throws {
        try await withTaskCancellationHandler {
            try await withThrowingDiscardingTaskGroup { group in
                for _ in 0..<Self.laneCount {
                    group.addTask { for await _ in wakeUps { _ = try await sending.attempt { try await sendAll() } } }
                }
                group.addTask {
                    while true {
                        wake()
                        try await Ticker.sleep(Self.interval)
                    }
                }
                group.addTask {
                    let worker = Worker(
                        "deleting the addresses of old mails", every: Self.sweepInterval,
                        retryAfter: Self.sweepInterval,
                        failures: metrics.failures, logger: logger)
                    try await worker.run {
                        while try await store.sweepMail(limit: Self.sweepLimit) == Self.sweepLimit {}
                        return .idle
                    }
                }
            }
        } onCancel: {
            outbound.close(within: Self.closeMax)
        }
    }

    /// Sends one mail after the other, until none is due.
    private func sendAll() async throws {
        while !Task.isCancelled {
            switch try await store.claimMail(leaseSeconds: Self.leaseSeconds) {
            case nil: return
            case .expired:
                logger.warning("a mail is dropped: it could not be sent in time")
            case .withheld:
                metrics.handled.add()
                // Hashes a dummy code, so that timing doesn't reveal whether an account exists.
                try await hasher.dummyVerify(OneTimeCode.random().text, flow: Self.hashFlow)
            case .send(let mail):
                // Others may be due, for the other lanes.
                wake()
                // Counted as a withheld mail is: at the same moment, once, whatever its outcome.
                if mail.attempt == 1 { metrics.handled.add() }
                try await send(mail)
            }
        }
    }

    private func send(_ mail: ClaimedMail) async throws {
        guard let delivery = try await prepare(mail) else { return }
        do throws(TransferFailure) {
            _ = try await outbound.perform(Transfer(.mail(delivery)))
        } catch {
            return try await settle(mail, after: error)
        }
        try await settle(mail, again: nil)
    }

    /// Makes the code and the mail. Returns nil if this node's claim has ended. After a failure the mail is due again
    /// later.
    private func prepare(_ mail: ClaimedMail) async throws -> MailDelivery? {
        do {
            let code = OneTimeCode.random()
            let hash = try await hasher.hash(code.text, flow: Self.hashFlow)
            let now = WallClock.seconds
            guard let message = CodeMail(appName: appName, from: from, mail: mail, code: code).message(time: now),
                try await store.putCode(mail, hash: hash, leaseSeconds: Self.leaseSeconds)
            else { return nil }
            return MailDelivery(
                relay: relay, sender: from.address, recipient: mail.address.text, content: message.bytes)
        } catch {
            try await settle(mail, again: MailRetry.wait(afterAttempt: mail.attempt, random: .random(in: 0..<1)))
            throw error
        }
    }

    private func settle(_ mail: ClaimedMail, after failure: TransferFailure) async throws {
        let metadata: Logger.Metadata = ["mail": "\(mail.id)", "attempt": "\(mail.attempt)", "reason": "\(failure)"]
        if case .refused(500..., _) = failure {
            logger.warning("a mail is dropped: the relay refused it", metadata: metadata)
            try await settle(mail, again: nil)
            return
        }
        // A permanent refusal may be about one address; any other failure is the relay's.
        if failure != .closed { metrics.relay.failed() }
        // This node's stop cut the transfer short: the next node needn't wait.
        let wait = failure == .closed ? .zero : MailRetry.wait(afterAttempt: mail.attempt, random: .random(in: 0..<1))
        let isRetried = try await settle(mail, again: wait)
        logger.warning(
            isRetried
                ? "sending a mail failed; it is retried"
                : "a mail is dropped: it is too old, or a newer code was requested",
            metadata: metadata)
    }

    /// Records the outcome even while the node stops, so not by a call that ends with the task. While the database is
    /// away, it retries for half of the claim's length: a mail without a recorded outcome is sent twice.
    ///
    /// - Returns: whether the mail will be sent again.
    @discardableResult
    private func settle(_ mail: ClaimedMail, again: Duration?) async throws -> Bool {
        let end = ContinuousClock.now + .seconds(Self.leaseSeconds / 2)
        while true {
            let result = await withCheckedContinuation { continuation in
                store.settleMail(mail, again: again) { continuation.resume(returning: $0) }
            }
            guard case .failure = result, ContinuousClock.now < end, !Task.isCancelled else { return try result.get() }
            try? await Task.sleep(for: Self.interval)
        }
    }
}
