// The operating system's user that PostgreSQL runs as. PostgreSQL refuses to run as root, so root picks another user.
// Roles inside the database are not here.

import Glibc
import Linux

extension SystemAccount {
    /// Returns the user to run PostgreSQL as; nil for this process's own user, unless that is root. Root picks the
    /// owner of an existing cluster, so that the directory stays usable with and without root; otherwise `postgres` or
    /// `nobody`.
    static func toRunPostgres(clusterOwner: uid_t?) throws -> SystemAccount? {
        guard geteuid() == 0 else { return nil }
        if let clusterOwner, clusterOwner != 0 {
            return named(userID: clusterOwner)
                ?? SystemAccount(name: "uid \(clusterOwner)", userID: clusterOwner, groupID: clusterOwner)
        }
        if let account = named("postgres") ?? named("nobody") { return account }
        throw EmbeddedPostgresError(
            .notReachable,
            "PostgreSQL does not run as root, and there is no user postgres or nobody to run it as: add one, "
                + "or start Parley as an ordinary user.")
    }
}
