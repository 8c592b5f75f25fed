// Sends the mails that wait in the database.
import Basics
import Credentials
import Domain
import FoundationEssentials
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
/// Each attempt creates its code just before sending, so only the code's hash is ever stored. If a relay's acceptance is
/// lost on the way, the mail is sent once more with another code: SMTP has no way to ask.
final class MailWorker: Sendable {
    /// The name of the mailed codes' flow in the password hasher's queue.
    private static let hashFlow = "mail"
    /// Mails on their way at once. More would hash more than a small machine has cores for.
    private static let sendingCountMax = 4
    /// Between checks for a mail that another node left, or that is due again. A check costs an index probe.
    private static let interval = Duration.seconds(1)
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
    private let registration: RegistrationRule
    private let logger: Logger
    private let sending: Worker
    private let loop: DeliveryLoop<DeliveryQueue<MailItem>>

    /// Returns nil where no mail is configured.
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
        registration = settings.registrationInUse
        relay = MailRelay(server)
        outbound = try Outbound(caFile: settings.caFile, inFlightMax: Self.sendingCountMax)
        sending = Worker("sending mail", retryAfter: Self.interval, failures: metrics.failures, logger: logger)
        var limits = DeliveryQueue<MailItem>.Limits()
        limits.heldCountMax = Self.sendingCountMax
        limits.claimCountMax = 1
        limits.settleCountMax = 1
        limits.settlementCountMax = Self.sendingCountMax
        loop = DeliveryLoop(
            DeliveryQueue(limits: limits, now: .now), claiming: sending, recording: sending, every: Self.interval,
            clock: .system)
    }

    /// Makes the worker look for due mails. From any thread.
    @Sendable func wake() { loop.wake() }

    /// Runs until cancelled. Mails on their way then have two seconds to arrive.
    func run() async {
        await loop.run(
            send: .each { [self] item in await send(item) }, claim: { [self] _ in try await claim() },
            settle: { [self] settlement in try await settle(settlement) },
            close: { [outbound] in outbound.close(within: Self.closeMax) })
    }

    /// Claims the next due mail.
    private func claim() async throws {
        let item: MailItem
        switch try await store.claimMail(registration, leaseSeconds: Self.leaseSeconds) {
        case nil: return
        case .expired:
            logger.warning("a mail is dropped: it could not be sent in time")
            loop.wake()
            return
        case .withheld:
            metrics.handled.add()
            item = MailItem(mail: nil)
        case .send(let mail):
            // Counted as a withheld mail is: at the same moment, once, whatever its outcome.
            if mail.attempt == 1 { metrics.handled.add() }
            item = MailItem(mail: mail)
        }
        loop.update { queue in
            queue.add(item)
            // Others may be due.
            queue.wake()
        }
    }

    private func send(_ item: MailItem) async {
        let settled: MailItem.Outcome?
        do {
            settled = try await outcome(of: item)
        } catch {
            // The mail is due again later.
            if !Task.isCancelled { sending.failed(error) }
            settled = item.mail.map { .init(mail: $0, again: Self.wait(after: $0)) }
        }
        loop.answer(item.key, settled)
        loop.wake()
    }

    /// Returns what is to be recorded; nil for nothing.
    private func outcome(of item: MailItem) async throws -> MailItem.Outcome? {
        let code = OneTimeCode.random()
        guard let mail = item.mail else {
            // Hashes a dummy code, so that timing doesn't reveal whether an account exists.
            try await hasher.dummyVerify(code.text, flow: Self.hashFlow)
            return nil
        }
        // A notice takes as long as a code.
        let hash = try await hasher.hash(code.text, flow: Self.hashFlow)
        guard let message = message(mail, code),
            // False if this node's claim has ended.
            try await store.putCode(
                mail, hash: mail.purpose.hasCode ? hash : nil, leaseSeconds: Self.leaseSeconds)
        else { return nil }
        let delivery = MailDelivery(
            relay: relay, sender: from.address, recipient: mail.address.text, content: message.bytes)
        do throws(TransferFailure) {
            _ = try await outbound.perform(Transfer(.mail(delivery)))
            return .init(mail: mail)
        } catch {
            return outcome(of: mail, after: error)
        }
    }

    private func message(_ mail: ClaimedMail, _ code: OneTimeCode) -> MailMessage? {
        let time = WallClock.seconds
        return mail.purpose.hasCode
            ? CodeMail(appName: appName, from: from, mail: mail, code: code).message(time: time)
            : NoticeMail(appName: appName, from: from, mail: mail).message(time: time)
    }

    private func outcome(of mail: ClaimedMail, after failure: TransferFailure) -> MailItem.Outcome {
        if case .refused(500..., _) = failure { return .init(mail: mail, failure: failure) }
        // This node's stop cut the transfer short: the next node needn't wait.
        if failure == .closed { return .init(mail: mail, again: .zero, failure: failure) }
        // A permanent refusal may be about one address; any other failure is the relay's.
        metrics.relay.failed()
        return .init(mail: mail, again: Self.wait(after: mail), failure: failure)
    }

    private static func wait(after mail: ClaimedMail) -> Duration? {
        Retries.mail.wait(afterTry: mail.attempt, random: .random(in: 0..<1))
    }

    /// A mail without a recorded outcome is sent twice.
    private func settle(_ settlement: DeliverySettlement<MailItem>) async throws {
        for outcome in settlement.outcomes.values {
            let isRetried = try await store.settleMail(outcome.mail, again: outcome.again)
            guard let failure = outcome.failure else { continue }
            let text =
                switch (outcome.again, isRetried) {
                case (nil, _): "a mail is dropped: the relay refused it"
                case (_?, true): "sending a mail failed; it is retried"
                case (_?, false): "a mail is dropped: it is too old, or a newer code was requested"
                }
            logger.warning(
                "\(text)",
                metadata: [
                    "mail": "\(outcome.mail.id)", "attempt": "\(outcome.mail.attempt)", "reason": "\(failure)",
                ])
        }
        loop.update { $0.settled(settlement, now: .now) }
    }
}

/// A mail to send, or one to withhold.
private struct MailItem: Deliverable {
    struct Outcome: Sendable {
        let mail: ClaimedMail
        /// When the mail is sent again; nil if it was sent, or is dropped.
        var again: Duration?
        var failure: TransferFailure?
    }

    let key: MailID
    /// It is nil if it is withheld.
    let mail: ClaimedMail?

    init(mail: ClaimedMail?) {
        self.mail = mail
        key = mail?.id ?? .make()
    }
}

extension Retries {
    /// When a mail is sent again.
    static let mail = Retries(first: .seconds(2), cap: .seconds(60))
}
