// How many searches run at once: on a node, and of one account. A search keeps a database connection busy for up to
// `PARLEY_SEARCH_TIMEOUT_MS`, and a node has few connections.
import Basics
import Domain

extension CallSlots<UserID> {
    /// How many searches of one account may wait for its own to end. With the default timeout a search waits 3 s at
    /// most.
    static var accountWaitingSearchCountMax: Int { 4 }
    private static var waitingSearchCountMax: Int { 64 }

    /// Slots for searches. An account with many of them waits behind its own, and delays others by one search at most.
    /// - Parameter accountCountMax: searches of one account at once. A node has one slot more, so that no account ever
    ///   has all of them.
    static func searches(accountCountMax: Int) -> CallSlots {
        CallSlots(
            SlotLimits(
                slotCount: accountCountMax + 1, waitingCountMax: waitingSearchCountMax,
                flowSlotCount: accountCountMax, flowWaitingCountMax: accountWaitingSearchCountMax),
            flowFull: Problem(
                .rateLimited,
                "At most \(accountCountMax) searches of an account run at once. Wait for their answers, then retry.",
                retryAfterS: 1),
            full: Problem(.overloaded, "Too many searches are running. Retry after 2 s.", retryAfterS: 2))
    }
}
