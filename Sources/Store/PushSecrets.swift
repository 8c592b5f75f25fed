// What all nodes share so as to send alerts: the key pair of Web Push, the services' tokens. Never logged.
import Domain
import Postgres

/// A token as it stands in the database.
package struct StoredToken: Sendable {
    package var value: [UInt8]
    /// For how long it is good still.
    package var goodMs: Int
}

extension Store {
    /// The secret that stands; where there is none, `value` becomes it for good. So all nodes that ask get the same.
    package func secret(named name: String, otherwise value: [UInt8]) async throws -> [UInt8] {
        let row = try await row(
            Statement("push_secret_keep", "select push_secret_keep($1, $2)"), [.text(name), .bytes(value)])
        return try await decoded { try row.bytes(0) }
    }

    /// The token that is good now, and whether the caller is to make the next one: `putToken`.
    /// - Parameter leaseSeconds: for how long nobody else is told to.
    package func token(named name: String, leaseSeconds: Int) async throws -> (token: StoredToken?, isDue: Bool) {
        let row = try await row(
            Statement("push_secret_lease", "select * from push_secret_lease($1, $2)"),
            [.text(name), .int4(Int32(leaseSeconds))])
        return try await decoded {
            let token = try row.bytesOrNull(0).map { StoredToken(value: $0, goodMs: Int(try row.int8(1))) }
            return (token, try row.bool(2))
        }
    }

    /// - Parameters:
    ///   - goodSeconds: for how long it is used at most.
    ///   - renewSeconds: after which somebody is to make the next.
    package func putToken(named name: String, _ value: [UInt8], goodSeconds: Int, renewSeconds: Int) async throws {
        _ = try await rows(
            Statement("push_secret_put", "select push_secret_put($1, $2, $3, $4)"),
            [.text(name), .bytes(value), .int4(Int32(goodSeconds)), .int4(Int32(renewSeconds))])
    }

    /// The service doesn't take it any more. The next is made at once, or as soon as this one is `ageMinSeconds` old.
    package func refuseToken(named name: String, _ value: [UInt8], ageMinSeconds: Int) async throws {
        _ = try await rows(
            Statement("push_secret_refuse", "select push_secret_refuse($1, $2, $3)"),
            [.text(name), .bytes(value), .int4(Int32(ageMinSeconds))])
    }
}
