// Which transfer gives its slot to a newcomer when all slots of a node are taken. Decisions only: time and progress are
// parameters.
import Basics
import Domain

/// The transfers that hold a slot, by account and by client address.
struct TransferHolders: Sendable {
    typealias Instant = ContinuousClock.Instant

    private struct Holder {
        let account: UserID
        /// It is nil for a trusted proxy or a Unix socket, which stand for many clients.
        let address: IPAddress?
        let since: Instant
    }

    /// What a transfer has to its credit when it begins, so that one of the last second is not the slowest.
    private static let headStart = (byteCount: 64 * 1024, seconds: 1.0)

    private var holders: [UInt64: Holder] = [:]
    private var accounts: [UserID: Int] = [:]
    private var addresses: [IPAddress: Int] = [:]

    mutating func add(_ id: UInt64, of account: UserID, at address: IPAddress?, now: Instant) {
        holders[id] = Holder(account: account, address: address, since: now)
        accounts[account, default: 0] += 1
        if let address { addresses[address, default: 0] += 1 }
    }

    mutating func remove(_ id: UInt64) {
        guard let holder = holders.removeValue(forKey: id) else { return }
        accounts[holder.account] = accounts[holder.account].flatMap { $0 > 1 ? $0 - 1 : nil }
        if let address = holder.address {
            addresses[address] = addresses[address].flatMap { $0 > 1 ? $0 - 1 : nil }
        }
    }

    func count(of account: UserID) -> Int { accounts[account] ?? 0 }

    /// Returns the transfer that must give way to a newcomer: the slowest one of the address, and of the account there,
    /// that hold the most. Nil if nobody would hold more than the newcomer does then.
    ///
    /// Addresses count first, because accounts are cheap. Within one address, and against a client without one, accounts
    /// count. Costs one pass over the holders.
    /// - Parameter byteCount: returns how many bytes a transfer has moved.
    func displaced(
        by account: UserID, at address: IPAddress?, now: Instant, byteCount: (UInt64) -> Int
    ) -> UInt64? {
        let ownCount = count(of: account)
        let ownAddressCount = address.flatMap { addresses[$0] } ?? 0
        var found: (id: UInt64, rank: (Int, Int, Double))?
        for (id, holder) in holders {
            var surplus = 0
            if let address, let other = holder.address, address != other {
                surplus = (addresses[other] ?? 0) - ownAddressCount - 1
            }
            let accountSurplus = count(of: holder.account) - ownCount - 1
            guard surplus > 0 || (surplus == 0 && accountSurplus > 0) else { continue }
            let seconds = (now - holder.since) / .seconds(1) + Self.headStart.seconds
            let rate = Double(byteCount(id) + Self.headStart.byteCount) / seconds
            let rank = (surplus, accountSurplus, -rate)
            if found.map({ $0.rank < rank }) ?? true { found = (id, rank) }
        }
        return found?.id
    }
}
