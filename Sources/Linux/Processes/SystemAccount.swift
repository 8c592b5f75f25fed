// Users of the operating system.

import Glibc

/// A user of the operating system, as whom a program may run.
package struct SystemAccount: Sendable, Equatable {
    package let name: String
    package let userID: uid_t
    package let groupID: gid_t

    package init(name: String, userID: uid_t, groupID: gid_t) {
        self.name = name
        self.userID = userID
        self.groupID = groupID
    }

    package static func named(_ name: String) -> SystemAccount? {
        lookUp { getpwnam_r(name, $0, $1, $2, $3) }
    }

    package static func named(userID: uid_t) -> SystemAccount? {
        lookUp { getpwuid_r(userID, $0, $1, $2, $3) }
    }

    private typealias PasswordEntry = UnsafeMutablePointer<passwd>
    private typealias FoundEntry = UnsafeMutablePointer<PasswordEntry?>

    private static func lookUp(
        _ call: (PasswordEntry, UnsafeMutablePointer<CChar>, Int, FoundEntry) -> Int32
    ) -> SystemAccount? {
        var entry = passwd()
        var found: PasswordEntry?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
            guard let strings = buffer.baseAddress, call(&entry, strings, buffer.count, &found) == 0, found != nil
            else { return nil }
            return SystemAccount(name: String(cString: entry.pw_name), userID: entry.pw_uid, groupID: entry.pw_gid)
        }
    }
}
