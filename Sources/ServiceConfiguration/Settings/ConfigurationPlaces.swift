// Where the configuration file is if neither a flag nor PARLEY_CONFIG names it.
import CommandLineFlags
import FoundationEssentials
import Glibc
import Linux

/// The places of the configuration file on this machine, for one user in one folder.
package struct ConfigurationPlaces: Sendable {
    package static let fileName = "parley.conf"
    /// The folder of the Debian package.
    package static let systemDirectory = "/etc/parley"
    /// The user of the Debian package. Root's `serve` and `init` switch to it.
    package static let accountName = "parley"

    /// Absolute.
    var workingDirectory: String
    var isRoot: Bool
    var hasSystemDirectory: Bool
    /// Users whose file in the working folder is read without being named. Anyone may put a file into /tmp.
    var trustedOwners: Set<UInt32>
    /// Returns the owner of a file; nil if there is no such file.
    var owner: @Sendable (String) -> UInt32?

    package init(
        workingDirectory: String, isRoot: Bool, hasSystemDirectory: Bool, trustedOwners: Set<UInt32> = [],
        owner: @escaping @Sendable (String) -> UInt32? = { _ in nil }
    ) {
        self.workingDirectory = workingDirectory
        self.isRoot = isRoot
        self.hasSystemDirectory = hasSystemDirectory
        self.trustedOwners = trustedOwners
        self.owner = owner
    }

    /// A machine without any configuration file.
    package static let none = ConfigurationPlaces(workingDirectory: "/", isRoot: false, hasSystemDirectory: false)

    /// Those of this process.
    package static func ofThisProcess() -> ConfigurationPlaces {
        var owners: Set<UInt32> = [0, geteuid()]
        if geteuid() == 0, let account = SystemAccount.named(accountName) { owners.insert(account.userID) }
        return ConfigurationPlaces(
            workingDirectory: FileManager.default.currentDirectoryPath, isRoot: geteuid() == 0,
            hasSystemDirectory: access(systemDirectory, F_OK) == 0, trustedOwners: owners,
            owner: { (try? Files.status($0))?.st_uid })
    }

    package static let systemFile = systemDirectory + "/" + fileName
    private var localFile: String { absolute(Self.fileName) }

    /// The path, relative to the working folder.
    func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        return (workingDirectory == "/" ? "" : workingDirectory) + "/" + path
    }

    /// The file that `parley init` writes.
    var fileToWrite: String { isRoot && hasSystemDirectory ? Self.systemFile : localFile }

    /// Returns the file to read; nil if there is none. With the Debian package root reads the system's file only.
    func find() throws(ConfigurationErrors) -> String? {
        if fileToWrite == localFile, let owner = owner(localFile) {
            if trustedOwners.contains(owner) { return localFile }
            throw ConfigurationErrors(mistakes: [
                "The configuration file \(localFile.quoted) belongs to another user (uid \(owner)): remove it, or name it "
                    + "with --config if you trust it."
            ])
        }
        return owner(Self.systemFile) == nil ? nil : Self.systemFile
    }
}
