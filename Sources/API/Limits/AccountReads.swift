// Limits the concurrent reads of one account. Reads share a few database connections. Without a limit, one account with
// slow reads could occupy all of them.
import Domain
import Synchronization
import Telemetry

/// Lets a few reads of each account run, and a limited number of others wait. Each node counts for itself.
package final class AccountReads: Sendable {
    fileprivate struct Waiter {
        let id: UInt64
        /// True if the read may run. False if it is refused, or its client is gone.
        let resume: CheckedContinuation<Bool, Never>
    }

    /// An account with running reads.
    fileprivate struct Account {
        var runningCount = 1
        /// In order of arrival.
        var line: [Waiter] = []
    }

    fileprivate struct State {
        var accounts: [UserID: Account] = [:]
        var lastWaiter: UInt64 = 0
    }

    /// Most reads take milliseconds, so 256 of them run within a second. After a restart a node reads for all polls of
    /// an account at once (`PARLEY_ACCOUNT_POLLS_MAX`).
    fileprivate static let waitingCountMax = 256

    private let runningCountMax: Int
    private let waitMax: Duration
    private let state = Mutex(State())
    private let waited = Counter()
    private let refused = Counter()

    /// - Parameters:
    ///   - runningCountMax: reads of one account that run at the same time.
    ///   - waitMax: how long a read waits for another to end.
    package init(runningCountMax: Int, waitMax: Duration = .seconds(1)) {
        self.runningCountMax = runningCountMax
        self.waitMax = waitMax
    }

    /// The number of reads that wait, of all accounts.
    var waitingCount: Int { state.withLock { $0.accounts.values.reduce(0) { $0 + $1.line.count } } }

    /// Runs a read of the account. Costs about 100 ns and does not suspend while there is room.
    /// - Throws: `rate_limited` if too many wait already, or none ends in time. Rethrows errors of `body`, and
    ///   `CancellationError` for a task that was cancelled while it waited.
    func run<Value: Sendable>(for account: UserID, _ body: () async throws -> Value) async throws -> Value {
        if !begin(account) { try await wait(account) }
        defer { end(account) }
        return try await body()
    }

    private func begin(_ account: UserID) -> Bool {
        state.withLock { $0.begin(account, countMax: runningCountMax) }
    }

    private func end(_ account: UserID) {
        state.withLock { $0.end(account) }?.resume(returning: true)
    }

    /// Waits until the read may run. Then the read counts as running.
    private func wait(_ account: UserID) async throws {
        waited.add()
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        // Cancelled when this scope ends.
        async let _: Void = giveUp(id, of: account, after: waitMax)
        let mayRun = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now = state.withLock { state -> Bool? in
                    if state.begin(account, countMax: runningCountMax) { return true }
                    return state.wait(Waiter(id: id, resume: continuation), account) ? nil : false
                }
                if let now { continuation.resume(returning: now) }
                // A cancellation just before this found no waiter to remove.
                if now == nil, Task.isCancelled { giveUp(id, of: account) }
            }
        } onCancel: {
            giveUp(id, of: account)
        }
        guard !mayRun else { return }
        try Task.checkCancellation()
        refused.add()
        throw Problem(
            .rateLimited,
            "This account already has \(runningCountMax) reads running. Wait for their answers, then retry.",
            retryAfterS: 1)
    }

    private func giveUp(_ id: UInt64, of account: UserID, after time: Duration) async {
        guard (try? await Task.sleep(for: time)) != nil else { return }
        giveUp(id, of: account)
    }

    private func giveUp(_ id: UInt64, of account: UserID) {
        state.withLock { $0.remove(id, of: account) }?.resume(returning: false)
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

extension AccountReads.State {
    fileprivate mutating func begin(_ account: UserID, countMax: Int) -> Bool {
        guard let index = accounts.index(forKey: account) else {
            accounts[account] = AccountReads.Account()
            return true
        }
        guard accounts.values[index].runningCount < countMax else { return false }
        accounts.values[index].runningCount += 1
        return true
    }

    /// Returns the waiting read that may run next.
    fileprivate mutating func end(_ account: UserID) -> CheckedContinuation<Bool, Never>? {
        guard let index = accounts.index(forKey: account) else { return nil }
        if !accounts.values[index].line.isEmpty { return accounts.values[index].line.removeFirst().resume }
        accounts.values[index].runningCount -= 1
        if accounts.values[index].runningCount == 0 { accounts.remove(at: index) }
        return nil
    }

    /// Returns false if too many wait.
    fileprivate mutating func wait(_ waiter: AccountReads.Waiter, _ account: UserID) -> Bool {
        guard let index = accounts.index(forKey: account),
            accounts.values[index].line.count < AccountReads.waitingCountMax
        else { return false }
        accounts.values[index].line.append(waiter)
        return true
    }

    fileprivate mutating func remove(_ id: UInt64, of account: UserID) -> CheckedContinuation<Bool, Never>? {
        guard let index = accounts.index(forKey: account),
            let place = accounts.values[index].line.firstIndex(where: { $0.id == id })
        else { return nil }
        return accounts.values[index].line.remove(at: place).resume
    }
}
