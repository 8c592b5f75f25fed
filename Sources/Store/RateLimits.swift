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

/// How a try to sign in ended.
package enum SignInOutcome: String, Sendable {
    case right, wrong
    /// Nothing was learned.
    case none
}

/// What bounds that somebody comes into threads, and adds others to them.
package struct AdmissionRules: Sendable {
    /// Threads that an account may have; nil: any number.
    package var threadCountMax: Int?
    package var strangers: StrangerRule
    /// The caller's bucket for new threads; nil: no limit.
    package var newThreads: SharedBucket?
    /// The caller's bucket for people whom they share no thread with; nil: no limit.
    package var additions: SharedBucket?

    package init(
        threadCountMax: Int? = nil, strangers: StrangerRule = .join, newThreads: SharedBucket? = nil,
        additions: SharedBucket? = nil
    ) {
        self.threadCountMax = threadCountMax
        self.strangers = strangers
        self.newThreads = newThreads
        self.additions = additions
    }
}

extension [SharedBucket] {
    /// As the three parameters that buckets have in SQL: keys, steps, windows.
    fileprivate var parameters: [Parameter] {
        [
            .bytesArray(map(\.key)), .int4s(map { Int32($0.limit.stepMs) }),
            .int4s(map { Int32($0.limit.windowS * 1000) }),
        ]
    }
}

extension Store {
    /// The rows of a statement that spends tokens in its transaction. Its last three parameters are the buckets. Throws
    /// `rate_limited` with the limit that refused.
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

    /// Takes a token out of each bucket, up to the first that is empty: which, and for how long. Nil: all were taken.
    package func takeTokens(_ buckets: [SharedBucket]) async throws -> (limit: RateLimit, waitMs: Int)? {
        let rows = try await rows(
            Statement("rate_limit_take", "select * from rate_limit_take($1, $2, $3)"),
            buckets.parameters)
        return try await decoded {
            try rows.first.map { (buckets[Int(try $0.int4(0)) - 1].limit, Int(try $0.int4(1))) }
        }
    }

    /// A try to sign in begins: counts it as a failure of `name`, a digest, until `endSignIn`, and takes a token out of each
    /// bucket. Returns which bucket is empty (nil: the name has to wait) and for how long; then nothing was counted or taken.
    /// - Parameter waitMaxS: the longest wait between two wrong tries in a row.
    package func beginSignIn(
        name: [UInt8]?, waitMaxS: Int, buckets: [SharedBucket]
    ) async throws -> (bucket: SharedBucket?, waitMs: Int)? {
        let rows = try await rows(
            Statement("sign_in_begin", "select * from sign_in_begin($1, $2, $3, $4, $5)"),
            [name.map(Parameter.bytes) ?? .null, .int4(Int32(waitMaxS))] + buckets.parameters)
        return try await decoded {
            try rows.first.map {
                let number = Int(try $0.int4(0))
                return (number == 0 ? nil : buckets[number - 1], Int(try $0.int4(1)))
            }
        }
    }

    /// Says how a try ended, and puts a token back into each bucket.
    package func endSignIn(
        name: [UInt8]?, _ outcome: SignInOutcome, giveBack buckets: [SharedBucket]
    ) async throws {
        _ = try await rows(
            Statement("sign_in_end", "select sign_in_end($1, $2, $3, $4)"),
            [
                name.map(Parameter.bytes) ?? .null, .text(outcome.rawValue), .bytesArray(buckets.map(\.key)),
                .int4s(buckets.map { Int32($0.limit.stepMs) }),
            ])
    }

    /// Forgets names that nobody has tried to sign in as for a day, at most so many; returns how many.
    package func sweepSignIns(limit: Int) async throws -> Int {
        let row = try await row(Statement("sign_in_sweep", "select sign_in_sweep($1)"), [.int4(Int32(limit))])
        return try await decoded { Int(try row.int4(0)) }
    }

    /// Forgets buckets that are full, at most so many; gives how many.
    package func sweepRateLimits(limit: Int) async throws -> Int {
        let row = try await row(Statement("rate_limit_sweep", "select rate_limit_sweep($1)"), [.int4(Int32(limit))])
        return try await decoded { Int(try row.int4(0)) }
    }
}
