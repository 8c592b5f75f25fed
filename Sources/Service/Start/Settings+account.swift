// The user that root switches to: `parley`, which the Debian package creates.
import Glibc
import Linux
import ServiceConfiguration

/// The data directory of the embedded PostgreSQL, as root finds it.
enum FoundDirectory: Equatable {
    /// There is none, or it is empty.
    case free
    case owned(by: uid_t)
}

extension Settings {
    /// Returns the user to switch to, who then owns the data directory; nil if this process stays what it is.
    /// - Throws: `FileError`.
    func accountToSwitchTo() throws -> SystemAccount? {
        guard geteuid() == 0 else { return nil }
        let account = SystemAccount.named(ConfigurationPlaces.accountName)
        guard let account, databaseURL == nil else { return account }
        let directory = try Self.look(at: dataDirectory)
        guard let account = Self.choose(account, directory) else { return nil }
        if directory == .free {
            try Files.makeDirectories(dataDirectory, mode: 0o755)
            guard chmod(dataDirectory, 0o700) == 0 else { throw FileError("make private", dataDirectory) }
            guard lchown(dataDirectory, account.userID, account.groupID) == 0 else {
                throw FileError("change the owner of", dataDirectory)
            }
        }
        return account
    }

    /// A directory of another user has a PostgreSQL that runs as that user. Root then stays root.
    static func choose(_ account: SystemAccount, _ directory: FoundDirectory) -> SystemAccount? {
        switch directory {
        case .free: account
        case .owned(let owner): owner == account.userID ? account : nil
        }
    }

    private static func look(at path: String) throws -> FoundDirectory {
        // A directory may be behind a link.
        guard access(path, F_OK) == 0, let status = try Files.status(try Files.resolve(path)) else { return .free }
        guard let directory = opendir(path) else { throw FileError("read", path) }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        // The directory itself and its parent.
        return count <= 2 ? .free : .owned(by: status.st_uid)
    }
}
