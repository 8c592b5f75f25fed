// Detects that many sign-ins fail.

/// The accounts and addresses whose sign-ins failed recently. Counts the names that were tried, so it does not
/// reveal which accounts exist. Pure: the time is a parameter. Uses at most 320 KB.
struct FailingSignIns: Sendable {
    typealias Counts = (accounts: Int, addresses: Int)

    static let windowS = 60
    /// The most that are counted of each. More would make no difference.
    private static let countMax = 10_000

    private var began: ContinuousClock.Instant?
    private var accounts: Set<Int> = []
    private var addresses: Set<Int> = []
    private var isAlarmed = false

    /// Adds a failure. Returns the counts when one of them has reached `alarmCount`: once a window.
    mutating func add(
        account: Int?, address: Int?, alarmCount: Int, now: ContinuousClock.Instant
    ) -> Counts? {
        if isOver(now) {
            self = FailingSignIns()
            began = now
        }
        if let account, accounts.count < Self.countMax { accounts.insert(account) }
        if let address, addresses.count < Self.countMax { addresses.insert(address) }
        guard !isAlarmed, max(accounts.count, addresses.count) >= alarmCount else { return nil }
        isAlarmed = true
        return (accounts.count, addresses.count)
    }

    /// The counts of the current window.
    func counts(now: ContinuousClock.Instant) -> Counts { isOver(now) ? (0, 0) : (accounts.count, addresses.count) }

    private func isOver(_ now: ContinuousClock.Instant) -> Bool {
        began.map { $0.duration(to: now) >= .seconds(Self.windowS) } ?? true
    }
}
