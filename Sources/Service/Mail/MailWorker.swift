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
import Synchronization
import Telemetry

/// Any number of nodes may; a mail is one node's for as long as sending it may take, then another's if it says nothing.
///
/// A code is made just before it is sent and again for another try, so that nothing but its hash is ever stored. What a
/// relay took without our hearing so is sent once more, with another code: SMTP has no way to ask.
struct MailWorker: Sendable {
    /// The hashing of mailed codes has a lane of its own in the password hasher's line.
    private static let hashLane = "mail"
    /// Mails on their way at once. More would be more hashing than a small machine has cores for.
    private static let laneCount = 4
    /// Between looks whether there is a mail that another node left, or that is to be tried again. An index probe.
    private static let interval = Duration.seconds(1)
    private static let sweepInterval = Duration.seconds(60)
    private static let sweepLimit = 1_000
    /// Longer than a transfer may take (30 s) by as much as a busy machine may be late.
    private static let leaseSeconds = 60
    /// For mails on their way while the node stops.
    private static let closeMax = Duration.seconds(2)

    private let store: Store
    private let hasher: PasswordHasher
    private let outbound: Outbound
    private let relay: MailRelay
    private let from: MailAddress
    private let appName: String
    private let metrics: MailMetrics
    private let logger: Logger
    private let bell = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// Nil where no mail is configured.
    init?(
        _ settings: Settings, store: Store, hasher: PasswordHasher, metrics: MailMetrics, logger: Logger
    ) throws {
        guard let server = settings.mailServer, let sender = settings.mailSender,
            let from = MailAddress(name: sender.name ?? settings.appName, address: sender.address.text)
        else { return nil }
        if let file = settings.caFile, !FileManager.default.isReadableFile(atPath: file) {
            throw StartError("PARLEY_CA_FILE: \(file) can't be read.")
        }
        self.store = store
        self.hasher = hasher
        self.metrics = metrics
        self.logger = logger
        self.from = from
        appName = settings.appName
        relay = MailRelay(server)
        outbound = try Outbound(caFile: settings.caFile, inFlightMax: Self.laneCount)
    }

    /// There is a mail to send. From any thread.
    @Sendable func wake() { bell.continuation.yield() }

    /// Runs until cancelled. Then mails on their way may still get there.
    func run() async throws {
        try await withTaskCancellationHandler {
            try await withThrowingDiscardingTaskGroup { group in
                for _ in 0..<Self.laneCount {
                    group.addTask { for await _ in bell.stream { await sendAll() } }
                }
                group.addTask {
                    while true {
                        wake()
                        try await Ticker.sleep(Self.interval)
                    }
                }
                group.addTask {
                    while true {
                        await sweep()
                        try await Task.sleep(for: Self.sweepInterval)
                    }
                }
            }
        } onCancel: {
            outbound.close(within: Self.closeMax)
        }
    }

    /// One lane: one mail after the other, until none is due.
    private func sendAll() async {
        while !Task.isCancelled {
            do {
                switch try await store.claimMail(leaseSeconds: Self.leaseSeconds) {
                case nil: return
                case .expired:
                    logger.warning("a mail is given up: too old")
                case .withheld:
                    metrics.handled.add()
                    // As much work as for a mail: who asks again meanwhile would feel which it was.
                    try await hasher.dummyVerify(OneTimeCode.random().text, lane: Self.hashLane)
                case .send(let mail):
                    // Where there is one there may be more, for the other lanes.
                    wake()
                    // Counted as one that is withheld is: at the same moment, once, whatever becomes of it.
                    if mail.attempt == 1 { metrics.handled.add() }
                    try await send(mail)
                }
            } catch {
                if Task.isCancelled { return }
                metrics.failures.add()
                logger.warning("sending mail has to wait", metadata: ["reason": "\(error)"])
                return
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

    /// Makes the code and the mail; nil if the mail isn't ours any more. What fails here leaves the mail for another try.
    private func prepare(_ mail: ClaimedMail) async throws -> MailDelivery? {
        do {
            let code = OneTimeCode.random()
            let hash = try await hasher.hash(code.text, lane: Self.hashLane)
            let now = Int(Date().timeIntervalSince1970)
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
            logger.warning("a mail was refused", metadata: metadata)
            try await settle(mail, again: nil)
            return
        }
        // What was refused for good may be one address's fault, and isn't the relay's.
        if failure != .closed { metrics.relay.failed() }
        // Cut short by our own end: the next node needn't wait.
        let wait = failure == .closed ? .zero : MailRetry.wait(afterAttempt: mail.attempt, random: .random(in: 0..<1))
        let willBeTried = try await settle(mail, again: wait)
        logger.warning(
            willBeTried ? "a mail has to wait" : "a mail is given up: too old, or asked for again", metadata: metadata)
    }

    /// Not by the task: what a relay has taken is noted even while the node stops. Where the database is away, it is tried
    /// for as long as the mail is ours: what isn't noted is sent twice.
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

    private func sweep() async {
        do {
            while try await store.sweepMail(limit: Self.sweepLimit) == Self.sweepLimit {}
        } catch {
            if !Task.isCancelled {
                logger.warning("forgetting addresses has to wait", metadata: ["reason": "\(error)"])
            }
        }
    }
}

/// When to try again.
enum MailRetry {
    private static let first = Duration.seconds(2)
    private static let cap = Duration.seconds(60)

    /// Doubles with each attempt up to the cap, and then as much again by chance at most, so that mails that failed
    /// together don't come back together.
    static func wait(afterAttempt attempt: Int, random: Double) -> Duration {
        Backoff.delay(first: first, cap: cap, doublings: attempt - 1) * (1 + random)
    }
}

/// Mails, by this node. No figure here may tell a mail to an account from one that is withheld, there being no account:
/// whoever asks for codes and reads `/metrics` would learn who has one. So neither outcomes nor times are shown.
final class MailMetrics: Sendable {
    let handled = Counter()
    let failures = Counter()
    let relay = RelayHealth()

    func write(to text: inout MetricsText) {
        text.counter(
            "parley_mails_total",
            "Mails with codes that this node dealt with: sent, refused by the relay, or withheld, there being no account or "
                + "too many tries. The log has what the relay refused.",
            [([("outcome", "handled")], handled.value)])
        text.counter("parley_mail_failures_total", "Calls of the database for mails that failed.", failures.value)
        text.gauge(
            "parley_mail_relay_failing",
            "1 if a mail had to be put off because of the relay within the last five minutes.",
            relay.isFailing ? 1 : 0)
    }
}

/// Whether the relay works. Coarse on purpose: it stays up for minutes after any mail's failure.
final class RelayHealth: Sendable {
    private static let window = Duration.seconds(300)

    private let lastFailure = Mutex<ContinuousClock.Instant?>(nil)

    func failed() { lastFailure.withLock { $0 = .now } }

    var isFailing: Bool { lastFailure.withLock { $0.map { .now - $0 < Self.window } ?? false } }
}

extension MailRelay {
    init(_ server: MailServer) {
        let security: Security =
            switch (server.isTLS, server.startTLS) {
            case (true, _): .tls
            case (false, .required): .startTLS
            case (false, .optional): .startTLSIfOffered
            case (false, .off): .none
            }
        self.init(
            host: server.host, port: server.port, security: security, user: server.user, password: server.password)
    }
}
