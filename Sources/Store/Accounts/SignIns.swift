// Counting attempts to sign in, on all nodes together.
import Domain
import Postgres

/// How an attempt to sign in ended.
package enum SignInOutcome: String, Sendable {
    case right, wrong
    /// The attempt showed nothing about the password.
    case none
}

extension Store {
    /// Begins an attempt: counts it as a failure of `name`, a digest, until `endSignIn`, and takes a token from each
    /// bucket. Returns nil if the attempt may proceed. Otherwise nothing was counted or taken. The result
    /// then has the wait and the empty bucket; the bucket is nil if wrong attempts for `name` cause the wait.
    /// - Parameter waitMaxS: the longest wait between two wrong attempts in a row.
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

    /// Records how an attempt ended, and puts a token back into each bucket.
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

    /// Deletes names that were not tried for a day, at most `limit`. Returns how many.
    package func sweepSignIns(limit: Int) async throws -> Int {
        let row = try await row(Statement("sign_in_sweep", "select sign_in_sweep($1)"), [.int4(Int32(limit))])
        return try await decoded { Int(try row.int4(0)) }
    }
}
