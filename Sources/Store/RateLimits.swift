// Limits that all nodes share.
import Domain
import Postgres

/// One of a limit's buckets: whom it concerns, as a digest.
package struct SharedBucket: Sendable {
    package var limit: RateLimit
    package var key: [UInt8]

    package init(limit: RateLimit, key: [UInt8]) {
        self.limit = limit
        self.key = key
    }
}

extension Store {
    /// Takes a token out of each bucket, up to the first that is empty: which, and for how long. Nil: all were taken.
    package func takeTokens(_ buckets: [SharedBucket]) async throws -> (limit: RateLimit, waitMs: Int)? {
        let rows = try await rows(
            Statement("rate_limit_take", "select * from rate_limit_take($1, $2, $3)"),
            [
                .bytesArray(buckets.map(\.key)), .int4s(buckets.map { Int32($0.limit.stepMs) }),
                .int4s(buckets.map { Int32($0.limit.windowS * 1000) }),
            ])
        return try await decoded {
            try rows.first.map { (buckets[Int(try $0.int4(0)) - 1].limit, Int(try $0.int4(1))) }
        }
    }

    /// Puts a token back into each.
    package func giveTokensBack(_ buckets: [SharedBucket]) async throws {
        _ = try await rows(
            Statement("rate_limit_give_back", "select rate_limit_give_back($1, $2)"),
            [.bytesArray(buckets.map(\.key)), .int4s(buckets.map { Int32($0.limit.stepMs) })])
    }

    /// Forgets buckets that are full, at most so many; gives how many.
    package func sweepRateLimits(limit: Int) async throws -> Int {
        let row = try await row(Statement("rate_limit_sweep", "select rate_limit_sweep($1)"), [.int4(Int32(limit))])
        return try await decoded { Int(try row.int4(0)) }
    }
}
