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
        try await firstRow("sign_in_begin", [.bytes(orNull: name), .int(waitMaxS)] + buckets.parameters) {
            let number = Int(try $0.int4(0))
            return (number == 0 ? nil : buckets[number - 1], Int(try $0.int4(1)))
        }
    }

    /// Records how an attempt ended, and puts a token back into each bucket.
    package func endSignIn(
        name: [UInt8]?, _ outcome: SignInOutcome, giveBack buckets: [SharedBucket]
    ) async throws {
        try await call(
            "sign_in_end",
            [
                .bytes(orNull: name), .text(outcome.rawValue), .bytesArray(buckets.map(\.key)),
                .int4s(buckets.map { Int32($0.limit.stepMs) }),
            ])
    }

    /// Deletes names that were not tried for a day, at most `limit`. Returns how many.
    package func sweepSignIns(limit: Int) async throws -> Int {
        try await value("sign_in_sweep", [.int(limit)]) { Int(try $0.int4(0)) }
    }
}
