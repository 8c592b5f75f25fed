// How many searches run at once: on a node, and of one account. A search keeps a database connection busy for up to
// `PARLEY_SEARCH_TIMEOUT_MS`, and a node has few connections.
import Basics
import Domain

/// Slots for searches, with a bounded line for each account. Accounts take turns: an account with many searches waits
/// behind its own, and delays others by one search at most.
struct SearchSlots: Sendable {
    /// How many searches of one account may wait for its own to end. With the default timeout a search waits 3 s at
    /// most.
    static let accountWaitingCountMax = 4
    private static let waitingCountMax = 64

    private let accountCountMax: Int
    private let slots: Slots<UserID>

    /// - Parameter accountCountMax: searches of one account at once. A node has one slot more, so that no account ever
    ///   has all of them.
    init(accountCountMax: Int) {
        self.accountCountMax = accountCountMax
        slots = Slots(
            SlotLimits(
                slotCount: accountCountMax + 1, waitingCountMax: Self.waitingCountMax, flowSlotCount: accountCountMax,
                flowWaitingCountMax: Self.accountWaitingCountMax))
    }

    /// Searches in line.
    var waitingCount: Int { slots.load.waiting }

    /// Runs a search when it is the account's turn. A search that is cancelled in line loses its place.
    /// - Throws: 429 when the account's line is full, 503 when the lines of all accounts are, `CancellationError`, and
    ///   what `body` throws.
    func run<Value: Sendable>(by user: UserID, _ body: () async throws -> Value) async throws -> Value {
        do {
            try await slots.enter(user)
        } catch SlotRefusal.flowFull {
            throw Problem(
                .rateLimited,
                "At most \(accountCountMax) searches of an account run at once. Wait for their answers, then retry.",
                retryAfterS: 1)
        } catch SlotRefusal.full {
            throw Problem(.overloaded, "Too many searches are running. Retry after 2 s.", retryAfterS: 2)
        }
        defer { slots.leave(user) }
        return try await body()
    }
}
