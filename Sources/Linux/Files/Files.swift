// Small file-system operations. The callers decide which files may be touched, and by whom.

import FoundationEssentials
import Glibc

/// File-system calls that block and throw `FileError`.
package enum Files {
    /// The absolute path with symbolic links resolved. The path must exist.
    package static func resolve(_ path: String) throws -> String {
        guard let resolved = realpath(path, nil) else { throw FileError("open", path) }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Returns nil if the path does not exist. Does not follow symbolic links.
    package static func status(_ path: String) throws -> stat? {
        var status = stat()
        if lstat(path, &status) == 0 { return status }
        if errno == ENOENT { return nil }
        throw FileError("look at", path)
    }

    package static func isDirectory(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFDIR }

    /// Creates the directory and its missing parents; an existing one is not changed.
    package static func makeDirectories(_ path: String, mode: mode_t) throws {
        if mkdir(path, mode) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw FileError("make", path)
        }
        try makeDirectories(String(path[..<slash]), mode: mode)
        if mkdir(path, mode) != 0 && errno != EEXIST { throw FileError("make", path) }
    }

    /// At most the last `byteCountMax` bytes of the file, as text; nil if there is no such file.
    package static func tail(_ path: String, byteCountMax: Int = 65_536) throws -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw FileError("read", path)
        }
        defer { close(file) }
        let length = Int(lseek(file, 0, SEEK_END))
        lseek(file, max(0, length - byteCountMax), SEEK_SET)
        return String(decoding: readAll(file, byteCountMax: byteCountMax), as: UTF8.self)
    }

    /// Reads to the end and keeps the first `byteCountMax` bytes. Blocks.
    package static func readAll(_ file: Int32, byteCountMax: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(file, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { return bytes }
            bytes.append(contentsOf: chunk[..<min(count, byteCountMax - bytes.count)])
        }
    }

    /// Replaces the file atomically: writes a new file next to it, flushes it, and renames it.
    package static func write(_ text: String, to path: String, mode: mode_t, owner: SystemAccount?) throws {
        let draft = path + ".new"
        unlink(draft)
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard file >= 0 else { throw FileError("write", draft) }
        defer { close(file) }
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw FileError("write", draft) }
            bytes = bytes.dropFirst(count)
        }
        if let owner, fchown(file, owner.userID, owner.groupID) != 0 { throw FileError("change the owner of", draft) }
        guard fsync(file) == 0, rename(draft, path) == 0 else { throw FileError("write", path) }
    }

    /// Flushes a directory, so that a rename in it survives a power failure.
    package static func flushDirectory(_ path: String) throws {
        let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw FileError("open", path) }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw FileError("flush", path) }
    }

    /// Removes the tree if it exists. Removes links and does not follow them.
    package static func remove(_ path: String) throws {
        if try status(path) != nil { try FileManager.default.removeItem(atPath: path) }
    }

    /// Changes the owner of the whole tree to `account`. Does not follow links.
    package static func giveTree(_ path: String, to account: SystemAccount) throws {
        guard lchown(path, account.userID, account.groupID) == 0 else { throw FileError("change the owner of", path) }
        guard let found = try status(path), isDirectory(found) else { return }
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            try giveTree(path + "/" + name, to: account)
        }
    }
}
