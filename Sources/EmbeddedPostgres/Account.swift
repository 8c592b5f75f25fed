// The operating system's user that PostgreSQL runs as. It refuses to run as root, so root picks another.
// Roles inside the database are not here.

import Glibc

/// A user other than the one this process runs as.
package struct Account: Sendable, Equatable {
    package let name: String
    package let userID: uid_t
    package let groupID: gid_t

    /// Whom to run PostgreSQL as: nil (ourselves) unless we are root; as root the owner of an existing cluster, so that
    /// a directory used without root before stays usable both ways, else `postgres`, else `nobody`.
    static func toRunPostgres(clusterOwner: uid_t?) throws -> Account? {
        guard geteuid() == 0 else { return nil }
        if let clusterOwner, clusterOwner != 0 {
            return named(userID: clusterOwner)
                ?? Account(name: "uid \(clusterOwner)", userID: clusterOwner, groupID: clusterOwner)
        }
        if let account = named("postgres") ?? named("nobody") { return account }
        throw EmbeddedPostgresError(
            .notReachable,
            "PostgreSQL does not run as root, and there is no user postgres or nobody to run it as: add one, "
                + "or start Parley as an ordinary user.")
    }

    package static func named(_ name: String) -> Account? {
        lookUp { getpwnam_r(name, $0, $1, $2, $3) }
    }

    static func named(userID: uid_t) -> Account? {
        lookUp { getpwuid_r(userID, $0, $1, $2, $3) }
    }

    private typealias PasswordEntry = UnsafeMutablePointer<passwd>
    private typealias FoundEntry = UnsafeMutablePointer<PasswordEntry?>

    private static func lookUp(
        _ call: (PasswordEntry, UnsafeMutablePointer<CChar>, Int, FoundEntry) -> Int32
    ) -> Account? {
        var entry = passwd()
        var found: PasswordEntry?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
            guard let strings = buffer.baseAddress, call(&entry, strings, buffer.count, &found) == 0, found != nil
            else { return nil }
            return Account(name: String(cString: entry.pw_name), userID: entry.pw_uid, groupID: entry.pw_gid)
        }
    }
}
