// The directory of the server's Unix socket. A socket's path is limited to 107 bytes, and neither libpq nor
// postgresql.conf can quote every name, so a data directory with an unsuitable path gets a short private directory
// elsewhere.

import FoundationEssentials
import Glibc
import Linux

enum SocketDirectory {
    /// `sun_path` holds 108 bytes with its NUL (unix(7)).
    static let pathByteCountMax = 107
    private static let socketName = "/.s.PGSQL.5432"

    /// Creates a directory that only the user of the server may enter. Returns its path.
    ///
    /// - Parameter path: the path to use if it is short enough; otherwise the directory is created in a runtime
    ///   directory, with a name derived from this path.
    static func make(preferring path: String, account: SystemAccount?, runtimeDirectories: [String]? = nil) throws
        -> String
    {
        if isUsable(path) {
            try makePrivate(path, account: account)
            return path
        }
        let name = "/parley-\(account?.userID ?? geteuid())-\(fingerprint(path))"
        for parent in runtimeDirectories ?? usual() {
            let path = parent + name
            guard isUsable(path), access(parent, W_OK | X_OK) == 0 else { continue }
            try makePrivate(path, account: account)
            return path
        }
        throw EmbeddedPostgresError(
            .notWritable,
            "There is no directory for PostgreSQL's socket: \(path) is too long a path, and none of "
                + "XDG_RUNTIME_DIR, /run and /tmp can be written.")
    }

    /// Removes a directory in a runtime directory once the server has ended. The next start creates it again.
    static func removeIfElsewhere(_ directory: String, preferring path: String) {
        if directory != path { rmdir(directory) }
    }

    /// Only root writes to /run, so other users cannot occupy names in it. XDG_RUNTIME_DIR belongs to one user, so a
    /// server that root runs as another user could not enter it.
    private static func usual() -> [String] {
        if geteuid() == 0 { return ["/run", "/tmp"] }
        return [ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"], "/tmp"].compactMap { $0 }
    }

    private static func isUsable(_ path: String) -> Bool {
        let isPlain = path.utf8.allSatisfy { byte in
            // Commas separate hosts in libpq and directories in postgresql.conf; quotes and backslashes are for quoting
            // there.
            byte > 0x20 && byte != 0x7f && !",'\"\\".utf8.contains(byte)
        }
        return isPlain && path.utf8.count + socketName.utf8.count <= pathByteCountMax
    }

    private static func makePrivate(_ path: String, account: SystemAccount?) throws {
        let owner = account?.userID ?? geteuid()
        if mkdir(path, 0o700) == 0 {
            if let account, lchown(path, account.userID, account.groupID) != 0 {
                throw FileError("change the owner of", path)
            }
        } else if errno != EEXIST {
            throw FileError("make", path)
        }
        // In a directory that all users can write, another user may have created it first, to listen in the server's
        // place.
        guard let found = try Files.status(path), Files.isDirectory(found), found.st_uid == owner else {
            throw EmbeddedPostgresError(
                .notWritable, "\(path), the directory for PostgreSQL's socket, belongs to someone else: remove it.")
        }
        if found.st_mode & 0o777 != 0o700, chmod(path, 0o700) != 0 { throw FileError("make private", path) }
    }

    /// FNV-1a, 64 bits: distinguishes directories, protects nothing.
    private static func fingerprint(_ text: String) -> String {
        let hash = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return String(hash, radix: 36)
    }
}
