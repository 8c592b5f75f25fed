// Secrets that all nodes share to send alerts: the key pair of Web Push, and the tokens for push services. Never
// logged.
import Domain
import Postgres

/// A token as stored in the database.
package struct StoredToken: Sendable {
    package var value: [UInt8]
    /// For how long it remains valid.
    package var goodMs: Int
}

extension Store {
    /// Returns the stored secret. If there is none, stores `value`. So all nodes get the same secret.
    package func secret(named name: String, otherwise value: [UInt8]) async throws -> [UInt8] {
        try await self.value("push_secret_keep", [.text(name), .bytes(value)]) { try $0.bytes(0) }
    }

    /// Returns the valid token, and whether the caller must make the next one and store it by `putToken`.
    /// - Parameter leaseSeconds: for how long no other caller is asked to.
    package func token(named name: String, leaseSeconds: Int) async throws -> (token: StoredToken?, isDue: Bool) {
        try await row("push_secret_lease", [.text(name), .int(leaseSeconds)]) { row in
            let token = try row.bytesOrNull(0).map { StoredToken(value: $0, goodMs: Int(try row.int8(1))) }
            return (token, try row.bool(2))
        }
    }

    /// - Parameters:
    ///   - goodSeconds: for how long it is valid.
    ///   - renewSeconds: after which the next one is due.
    package func putToken(named name: String, _ value: [UInt8], goodSeconds: Int, renewSeconds: Int) async throws {
        try await call("push_secret_put", [.text(name), .bytes(value), .int(goodSeconds), .int(renewSeconds)])
    }

    /// Records that the push service refused the token. The next one is due at once, or when this one is
    /// `ageMinSeconds` old.
    package func refuseToken(named name: String, _ value: [UInt8], ageMinSeconds: Int) async throws {
        try await call("push_secret_refuse", [.text(name), .bytes(value), .int(ageMinSeconds)])
    }
}
