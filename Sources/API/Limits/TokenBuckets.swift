// Who has used how much of one limit, on this node. Pure: the time is given.
import Domain

/// Buckets of tokens in a memory of fixed size. A bucket is one number, when it will be full again; one that is full needs
/// no place. Where too many are in use at once, the one that is nearest to full makes way, so that who floods the table
/// with new names frees nobody who has used up their own.
struct TokenBuckets: Sendable {
    private static let ways = 8

    let limit: RateLimit
    private let stepNs: Int64
    private let windowNs: Int64
    private let mask: UInt64
    /// Of groups of eight: which keys, and when each is full. 0 is no key.
    private var keys: [UInt64]
    private var fullAt: [Int64]

    /// - Parameter groupCount: a power of two; each has eight buckets and takes 128 bytes.
    init(_ limit: RateLimit, groupCount: Int = 2_048) {
        precondition(groupCount > 0 && groupCount & (groupCount - 1) == 0)
        self.limit = limit
        windowNs = Int64(limit.windowS) * 1_000_000_000
        stepNs = windowNs / Int64(limit.quota)
        mask = UInt64(groupCount - 1)
        keys = Array(repeating: 0, count: groupCount * Self.ways)
        fullAt = Array(repeating: .min, count: groupCount * Self.ways)
    }

    /// Nil when there is a token, which is left, else in how many nanoseconds there will be one.
    func wait(_ key: UInt64, now: Int64) -> Int64? {
        let key = key == 0 ? 1 : key
        let full = fullAt(place(of: key), key, now) + stepNs
        return full > now + windowNs ? full - now - windowNs : nil
    }

    /// Takes `cost` tokens, or none. A cost above the quota takes a full bucket. Some 10 ns, and no allocation.
    /// - Parameters:
    ///   - key: evenly spread over all its bits.
    ///   - now: in nanoseconds, from any beginning.
    /// - Returns: nil when there were enough, else in how many nanoseconds there will be.
    mutating func take(_ key: UInt64, cost: Int = 1, now: Int64) -> Int64? {
        let key = key == 0 ? 1 : key
        let place = place(of: key)
        let full = fullAt(place, key, now) + stepNs * Int64(min(cost, limit.quota))
        if full > now + windowNs { return full - now - windowNs }
        keys[place] = key
        fullAt[place] = full
        return nil
    }

    /// Takes `cost` tokens that may not be there: for work whose cost is known only when it is done. The debt is at most
    /// one quota, so the next token comes after two windows at the latest.
    mutating func charge(_ key: UInt64, cost: Int, now: Int64) {
        let key = key == 0 ? 1 : key
        let place = place(of: key)
        let full = fullAt(place, key, now) + stepNs * Int64(min(cost, 2 * limit.quota))
        keys[place] = key
        fullAt[place] = min(full, now + 2 * windowNs)
    }

    /// Puts a token back that was taken for work that was not done.
    mutating func giveBack(_ key: UInt64) {
        let key = key == 0 ? 1 : key
        let place = place(of: key)
        if keys[place] == key { fullAt[place] -= stepNs }
    }

    /// The key's place in its group, else that of the bucket which is nearest to full.
    private func place(of key: UInt64) -> Int {
        let first = Int(key & mask) * Self.ways
        var place = first
        for index in first..<first + Self.ways {
            if keys[index] == key { return index }
            if fullAt[index] < fullAt[place] { place = index }
        }
        return place
    }

    private func fullAt(_ place: Int, _ key: UInt64, _ now: Int64) -> Int64 {
        keys[place] == key ? max(fullAt[place], now) : now
    }
}
