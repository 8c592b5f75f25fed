// Limits the concurrent reads of one account. Reads share a few database connections. Without a limit, one account with
// slow reads could occupy all of them.
import Basics
import Domain
import Telemetry

/// Lets a few reads of each account run, and a limited number of others wait. Each node counts for itself.
package final class AccountReads: Sendable {
    /// Most reads take milliseconds, so 256 of them run within a second. After a restart a node reads for all polls of
    /// an account at once (`PARLEY_ACCOUNT_POLLS_MAX`).
    private static let waitingCountMax = 256

    private let runningCountMax: Int
    private let waitMax: Duration
    /// An account waits for its own reads only. The connections to the database bound the reads of all accounts.
    private let slots: Slots<UserID>
    private let waited = Counter()
    private let refused = Counter()

    /// - Parameters:
    ///   - runningCountMax: reads of one account that run at the same time.
    ///   - waitMax: how long a read waits for another to end.
    package init(runningCountMax: Int, waitMax: Duration = .seconds(1)) {
        self.runningCountMax = runningCountMax
        self.waitMax = waitMax
        slots = Slots(
            SlotLimits(
                slotCount: .max, waitingCountMax: .max, flowSlotCount: runningCountMax,
                flowWaitingCountMax: Self.waitingCountMax))
    }

    /// The number of reads that wait, of all accounts.
    var waitingCount: Int { slots.load.waiting }

    /// Runs a read of the account. Costs about 200 ns and does not suspend while there is room.
    /// - Throws: `rate_limited` if too many wait already, or none ends in time. Rethrows errors of `body`, and
    ///   `CancellationError` for a task that was cancelled while it waited.
    func run<Value: Sendable>(for account: UserID, _ body: () async throws -> Value) async throws -> Value {
        if !slots.enterIfFree(account) { try await wait(account) }
        defer { slots.leave(account) }
        return try await body()
    }

    private func wait(_ account: UserID) async throws {
        waited.add()
        do {
            try await slots.enter(account, within: waitMax)
        } catch is SlotRefusal {
            refused.add()
            throw Problem(
                .rateLimited,
                "This account already has \(runningCountMax) reads running. Wait for their answers, then retry.",
                retryAfterS: 1)
        }
    }

    package func write(to text: inout MetricsText) {
        text.counter(
            "parley_account_reads_waited_total",
            "Reads that waited because their account had reached its limit of concurrent reads.",
            waited.value)
        text.counter(
            "parley_account_reads_refused_total",
            "Reads refused with 429 because too many of their account waited, or for too long.", refused.value)
    }
}
