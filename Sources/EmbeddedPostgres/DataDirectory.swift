// Parley's data directory for the embedded PostgreSQL: created, locked by one Parley, and open to the user that
// PostgreSQL runs as. PostgresCluster owns the contents of the cluster.

import Glibc
import Linux
import Synchronization

/// The directory, locked by this process until `release()` or its end. The kernel releases the lock, also at kill -9.
final class DataDirectory: Sendable {
    /// Absolute, symbolic links resolved.
    let path: String
    private let lock: Atomic<Int32>

    private init(path: String, lock: Int32) {
        self.path = path
        self.lock = Atomic(lock)
    }

    deinit { release() }

    /// Creates the directory if it is missing, and locks it. Blocks.
    ///
    /// - Throws: `EmbeddedPostgresError` (`notWritable`, `inUse`).
    static func take(_ path: String) throws -> DataDirectory {
        do {
            // Started by root, a server of another user must reach its own directory but need not read this one.
            try Files.makeDirectories(path, mode: geteuid() == 0 ? 0o711 : 0o700)
            let path = try Files.resolve(path)
            let file = try lockFile(path + "/parley.lock")
            return DataDirectory(path: path, lock: file)
        } catch let error as FileError {
            throw EmbeddedPostgresError(
                .notWritable,
                "The data directory \(path) cannot be used (\(error)): set PARLEY_DATA_DIR to one that can be written.")
        }
    }

    /// Releases the lock.
    func release() {
        let file = lock.exchange(-1, ordering: .relaxed)
        guard file >= 0 else { return }
        // Closing is not enough: a child that another thread is starting has a copy of the descriptor for a moment.
        flock(file, LOCK_UN)
        close(file)
    }

    private static func lockFile(_ path: String) throws -> Int32 {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw FileError("write", path) }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            defer { close(file) }
            guard code == EWOULDBLOCK else { throw FileError("lock", path, code: code) }
            let holder = Files.readAll(file, byteCountMax: 20).filter { (0x30...0x39).contains($0) }
            throw EmbeddedPostgresError(
                .inUse,
                "Another Parley (process \(String(decoding: holder, as: UTF8.self))) uses the data directory "
                    + "\(path.dropLast("/parley.lock".count)): stop it, or set PARLEY_DATA_DIR to another one.")
        }
        let line = Array("\(getpid())\n".utf8)
        // Only for the error message above: the lock does not depend on the file's text.
        _ = ftruncate(file, 0)
        _ = pwrite(file, line, line.count, 0)
        return file
    }

    /// Checks that `account` can enter the directory. Parley does not change the permissions of parent directories.
    ///
    /// - Throws: `EmbeddedPostgresError` (`notReachable`), naming the first directory that the account cannot enter.
    func checkReachable(by account: SystemAccount?) throws {
        guard let account else { return }
        if try canEnter(path, as: account) { return }
        var parents = path.split(separator: "/").indices.map { end in
            "/" + path.split(separator: "/")[...end].joined(separator: "/")
        }
        parents.insert("/", at: 0)
        let closed = try parents.first { try !canEnter($0, as: account) } ?? path
        throw EmbeddedPostgresError(
            .notReachable,
            "PostgreSQL does not run as root but as user \(account.name), who may not enter \(closed): set "
                + "PARLEY_DATA_DIR to a directory that \(account.name) can reach (/var/lib/parley, say), "
                + "or start Parley as an ordinary user.")
    }

    /// Runs a check as that user, so that groups and access lists count.
    private func canEnter(_ directory: String, as account: SystemAccount) throws -> Bool {
        let test = Program(executable: "/usr/bin/test", arguments: ["-x", directory], account: account)
        let (status, output) = try test.runBlocking()
        // `test` prints nothing, so setpriv failed, as in a container whose root may not change users.
        guard status == 0 || output.isEmpty else {
            throw EmbeddedPostgresError(
                .notReachable,
                "PostgreSQL does not run as root, and this root may not run it as user \(account.name) "
                    + "(\(ServerLog.reason(in: output))): start Parley as an ordinary user.")
        }
        return status == 0
    }
}
