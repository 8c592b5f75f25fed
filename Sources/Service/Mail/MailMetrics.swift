// The metrics of mails with codes.
import Synchronization
import Telemetry

/// Mails handled by this node. No metric here may distinguish a mail to an account from one that is withheld because
/// there is no account. Otherwise anyone who requests codes and reads `/metrics` would learn which addresses have
/// accounts. So outcomes and times are not shown.
final class MailMetrics: Sendable {
    let handled = Counter()
    let failures = Counter()
    let relay = RelayHealth()

    func write(to text: inout MetricsText) {
        text.counter(
            "parley_mails_total",
            "Mails with codes handled by this node, with any result (`outcome` is always handled): sent, refused by the relay, "
                + "or withheld because there is no account or there were too many tries. The log has what the relay refused.",
            [([("outcome", "handled")], handled.value)])
        text.gauge(
            "parley_mail_relay_failing", "1 if the relay made a mail wait within the last five minutes.",
            relay.isFailing ? 1 : 0)
    }
}

/// Whether the relay works. Coarse on purpose: it counts as failing for five minutes after any mail's failure.
final class RelayHealth: Sendable {
    private static let window = Duration.seconds(300)

    private let lastFailure = Mutex<ContinuousClock.Instant?>(nil)

    func failed() { lastFailure.withLock { $0 = .now } }

    var isFailing: Bool { lastFailure.withLock { $0.map { .now - $0 < Self.window } ?? false } }
}
