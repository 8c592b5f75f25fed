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

/// Runs changes that take tokens in their transaction. The last three parameters, which it adds, are the buckets. Throws
/// `rate_limited` with the limit that refused.
struct SpendingRunner: QueryRunner {
    let client: PostgresClient
    let buckets: [SharedBucket]

    func rows(_ query: some Query, _ parameters: [Parameter]) async throws -> Rows {
        let parameters = parameters + buckets.parameters
        do {
            return try await client.query(query.statement(parameterCount: parameters.count), parameters)
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
}

extension Store {
    func spending(_ buckets: [SharedBucket]) -> SpendingRunner {
        SpendingRunner(client: changes.client, buckets: buckets)
    }

    /// Takes a token from each bucket, up to the first empty one. Returns the empty bucket's limit and the
    /// wait; nil if all tokens were there.
    package func takeTokens(_ buckets: [SharedBucket]) async throws -> (limit: RateLimit, waitMs: Int)? {
        try await firstRow("rate_limit_take", buckets.parameters) {
            (buckets[Int(try $0.int4(0)) - 1].limit, Int(try $0.int4(1)))
        }
    }

    /// Deletes full buckets, at most `limit`. Returns how many.
    package func sweepRateLimits(limit: Int) async throws -> Int {
        try await value("rate_limit_sweep", [.int(limit)]) { Int(try $0.int4(0)) }
    }
}
