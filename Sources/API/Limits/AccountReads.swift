// Limits the concurrent reads of one account. Reads share a few database connections. Without a limit, one account with
// slow reads could occupy all of them.
import Basics
import Domain
import Telemetry

extension CallSlots<UserID> {
    /// Most reads take milliseconds, so 256 of them run within a second. After a restart a node reads for all polls of
    /// an account at once (`PARLEY_ACCOUNT_POLLS_MAX`).
    private static var waitingReadCountMax: Int { 256 }

    /// Lets a few reads of each account run, and a limited number of others wait. Each node counts for itself. An
    /// account waits for its own reads only: the connections to the database bound the reads of all accounts.
    /// - Parameters:
    ///   - accountCountMax: reads of one account that run at the same time.
    ///   - waitMax: how long a read waits for another to end.
    package static func reads(accountCountMax: Int, waitMax: Duration = .seconds(1)) -> CallSlots {
        CallSlots(
            SlotLimits(
                slotCount: .max, waitingCountMax: .max, flowSlotCount: accountCountMax,
                flowWaitingCountMax: waitingReadCountMax),
            waitMax: waitMax,
            flowFull: Problem(
                .rateLimited,
                "This account already has \(accountCountMax) reads running. Wait for their answers, then retry.",
                retryAfterS: 1))
    }

    func writeReads(to text: inout MetricsText) {
        text.counter(
            "parley_account_reads_waited_total",
            "Reads that waited because their account had too many in progress.", waited.value)
        text.counter(
            "parley_account_reads_refused_total",
            "Reads refused with 429 because too many of their account waited, or for too long.", refused.value)
    }
}
