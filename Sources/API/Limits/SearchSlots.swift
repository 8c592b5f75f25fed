// How many searches run at once: on a node, and of one account. A search keeps a connection to the database busy for up to
// `PARLEY_SEARCH_TIMEOUT_MS`, and there are few of those.
import Domain
import Synchronization

/// Slots for searches, with a bounded line of its own for each account. Accounts take turns: who searches much waits behind
/// themselves and delays others by one search at most.
final class SearchSlots: Sendable {
    private enum Entry {
        case go
        /// The account's line is full.
        case accountFull
        /// The lines of all accounts together are as long as they may be.
        case nodeFull
    }

    private struct Account {
        var runningCount = 0
        var line: [CheckedContinuation<Void, Never>] = []
    }

    private struct State {
        var freeCount: Int
        var waitingCount = 0
        /// Those with searches that run or wait.
        var accounts: [UserID: Account] = [:]
        /// Those with searches that wait. The first that may run one more is next.
        var turns: [UserID] = []
    }

    /// How many searches of one account wait for its own to end. With the default timeout a search waits 3 s at most.
    static let accountWaitingCountMax = 4
    private static let waitingCountMax = 64

    private let accountCountMax: Int
    private let state: Mutex<State>

    /// - Parameter accountCountMax: searches of one account at once. A node has a slot more than that: no account ever has them
    ///   all.
    init(accountCountMax: Int) {
        self.accountCountMax = accountCountMax
        state = Mutex(State(freeCount: accountCountMax + 1))
    }

    /// Runs a search once it is the account's turn. Throws 429 when the account's line is full, and 503 when all lines are.
    func run<Value: Sendable>(by user: UserID, _ body: () async throws -> Value) async throws -> Value {
        switch await enter(user) {
        case .go: break
        case .accountFull:
            throw Problem(
                .rateLimited,
                "At most \(accountCountMax) searches of an account run at once. Wait for their answers, then retry.",
                retryAfterS: 1)
        case .nodeFull:
            throw Problem(.overloaded, "Too many searches are running. Retry after 2 s.", retryAfterS: 2)
        }
        defer { leave(user) }
        return try await body()
    }

    private func enter(_ user: UserID) async -> Entry {
        var entry = Entry.go
        await withCheckedContinuation { continuation in
            let isWaiting = state.withLock { state in
                var account = state.accounts[user] ?? Account()
                if account.line.isEmpty, account.runningCount < accountCountMax, state.freeCount > 0 {
                    account.runningCount += 1
                    state.freeCount -= 1
                } else if account.line.count >= Self.accountWaitingCountMax {
                    entry = .accountFull
                } else if state.waitingCount >= Self.waitingCountMax {
                    entry = .nodeFull
                } else {
                    if account.line.isEmpty { state.turns.append(user) }
                    account.line.append(continuation)
                    state.waitingCount += 1
                    state.accounts[user] = account
                    return true
                }
                if account.runningCount > 0 { state.accounts[user] = account }
                return false
            }
            if !isWaiting { continuation.resume() }
        }
        return entry
    }

    private func leave(_ user: UserID) {
        let next: CheckedContinuation<Void, Never>? = state.withLock { state in
            state.freeCount += 1
            state.accounts[user]?.runningCount -= 1
            let next = takeNext(&state)
            if let account = state.accounts[user], account.runningCount == 0, account.line.isEmpty {
                state.accounts[user] = nil
            }
            return next
        }
        next?.resume()
    }

    /// The next search that waits and may run. Its account goes to the end of the turns. Costs a look at each account that
    /// waits for itself.
    private func takeNext(_ state: inout State) -> CheckedContinuation<Void, Never>? {
        let index = state.turns.firstIndex { state.accounts[$0]?.runningCount ?? 0 < accountCountMax }
        guard let index, var account = state.accounts[state.turns[index]] else { return nil }
        let user = state.turns.remove(at: index)
        let next = account.line.removeFirst()
        account.runningCount += 1
        state.accounts[user] = account
        if !account.line.isEmpty { state.turns.append(user) }
        state.waitingCount -= 1
        state.freeCount -= 1
        return next
    }
}
