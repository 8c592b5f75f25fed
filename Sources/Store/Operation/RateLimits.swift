// Limits that all nodes share.
import Domain
import Postgres

/// One bucket of a limit. `key` is a digest of the account or address.
package struct SharedBucket: Sendable {
    package var limit: RateLimit
    package var key: [UInt8]

    package init(limit: RateLimit, key: [UInt8]) {
        self.limit = limit
        self.key = key
    }
}

extension [SharedBucket] {
    /// The three parameters of buckets in SQL: keys, steps, windows.
    var parameters: [Parameter] {
        [
            .bytesArray(map(\.key)), .int4s(map { Int32($0.limit.stepMs) }),
            .int4s(map { Int32($0.limit.windowS * 1000) }),
        ]
    }
}

extension Store {
    /// Returns the rows of a statement that takes tokens in its transaction. Its last three parameters are the buckets.
    /// Throws `rate_limited` with the limit that refused.
    func rows(
        _ statement: Statement, _ parameters: [Parameter], spending buckets: [SharedBucket]
    ) async throws -> Rows {
        do {
            return try await changes.client.query(statement, parameters + buckets.parameters)
        } catch let error as PostgresError {
            if case .server(let refusal) = error, refusal.sqlState == "PY429",
                let number = refusal.hint.flatMap({ Int($0) }), buckets.indices.contains(number - 1),
                let waitMs = refusal.detail.flatMap({ Int($0) })
            {
                throw Problem.rateLimited(buckets[number - 1].limit, waitMs: waitMs)
            }
            throw Problem(database: error)
        }
    }

    /// Takes a token from each bucket, up to the first empty one. Returns the empty bucket's limit and the
    /// wait; nil if all tokens were there.
    package func takeTokens(_ buckets: [SharedBucket]) async throws -> (limit: RateLimit, waitMs: Int)? {
        let rows = try await rows(
            Statement("rate_limit_take", "select * from rate_limit_take($1, $2, $3)"),
            buckets.parameters)
        return try await decoded {
            try rows.first.map { (buckets[Int(try $0.int4(0)) - 1].limit, Int(try $0.int4(1))) }
        }
    }

    /// Deletes full buckets, at most `limit`. Returns how many.
    package func sweepRateLimits(limit: Int) async throws -> Int {
        let row = try await row(Statement("rate_limit_sweep", "select rate_limit_sweep($1)"), [.int4(Int32(limit))])
        return try await decoded { Int(try row.int4(0)) }
    }
}
