// The use of one rate limit on this node. Pure: the time is a parameter.
import Domain

/// Token buckets in memory of fixed size. A bucket is one number: the time at which it is full. A full bucket needs no
/// place. If too many are in use, the one nearest to full is dropped. So a caller who floods the table with new names
/// does not free anyone who has used up a bucket.
struct TokenBuckets: Sendable {
    private static let ways = 8

    let limit: RateLimit
    private let stepNs: Int64
    private let windowNs: Int64
    private let mask: UInt64
    /// In groups of eight: the keys, and the time at which each is full. 0 is no key.
    private var keys: [UInt64]
    private var fullAt: [Int64]

    /// - Parameter groupCount: a power of two. Each group has eight buckets and uses 128 bytes.
    init(_ limit: RateLimit, groupCount: Int = 2_048) {
        precondition(groupCount > 0 && groupCount & (groupCount - 1) == 0)
        self.limit = limit
        windowNs = Int64(limit.windowS) * 1_000_000_000
        stepNs = windowNs / Int64(limit.quota)
        mask = UInt64(groupCount - 1)
        keys = Array(repeating: 0, count: groupCount * Self.ways)
        fullAt = Array(repeating: .min, count: groupCount * Self.ways)
    }

    /// Returns nil if a token is there, and leaves it. Otherwise returns the nanoseconds until there is one.
    func wait(_ key: UInt64, now: Int64) -> Int64? {
        let key = key == 0 ? 1 : key
        let full = fullAt(place(of: key), key, now) + stepNs
        return full > now + windowNs ? full - now - windowNs : nil
    }

    /// Takes `cost` tokens, or none. A cost above the quota counts as the quota. Costs about 10 ns and no allocation.
    /// - Parameters:
    ///   - key: evenly spread over all its bits.
    ///   - now: in nanoseconds, from any start.
    /// - Returns: nil if there were enough tokens, or else the nanoseconds until there are.
    mutating func take(_ key: UInt64, cost: Int = 1, now: Int64) -> Int64? {
        let key = key == 0 ? 1 : key
        let place = place(of: key)
        let full = fullAt(place, key, now) + stepNs * Int64(min(cost, limit.quota))
        if full > now + windowNs { return full - now - windowNs }
        keys[place] = key
        fullAt[place] = full
        return nil
    }

    /// Takes `cost` tokens even if they are not there, for work whose cost is known only afterwards. The debt is at
    /// most one quota, so the next token is there after two windows at the latest.
    mutating func charge(_ key: UInt64, cost: Int, now: Int64) {
        let key = key == 0 ? 1 : key
        let place = place(of: key)
        let full = fullAt(place, key, now) + stepNs * Int64(min(cost, 2 * limit.quota))
        keys[place] = key
        fullAt[place] = min(full, now + 2 * windowNs)
    }

    /// Gives back a token that was taken for work that was not done.
    mutating func giveBack(_ key: UInt64) {
        let key = key == 0 ? 1 : key
        let place = place(of: key)
        if keys[place] == key { fullAt[place] -= stepNs }
    }

    /// The key's place in its group, or else the place of the bucket nearest to full.
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
