// Reads postmaster.pid, and checks whether the process that it names is the server of that directory. PostgresCluster
// ends that server.

import Glibc
import Linux

/// The contents of `postmaster.pid` (PostgreSQL's pidfile.h: one item a line).
struct PostmasterFile: Sendable {
    enum Status: String, Sendable {
        case starting, stopping, ready, standby
    }

    let pid: pid_t
    /// It is nil while the server has not written it yet.
    let status: Status?

    /// Returns nil if there is no such file, or if it is malformed.
    static func read(dataDirectory: String) throws -> PostmasterFile? {
        try Files.tail(dataDirectory + "/postmaster.pid").flatMap(PostmasterFile.init(parsing:))
    }

    init?(parsing text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        // Negative for a single-user backend, which is not a server.
        guard let first = lines.first, let pid = pid_t(first), pid > 0 else { return nil }
        self.pid = pid
        let word = lines.count > 7 ? lines[7].prefix { $0.isLetter } : ""
        status = Status(rawValue: String(word))
    }

    enum Owner: Sendable {
        /// No such process.
        case nobody
        /// The process runs, and this is its data directory.
        case server
        /// The process id belongs to another process now.
        case stranger
    }

    /// Returns the present owner of the process id. A postmaster works in its data directory, and no other process
    /// does.
    func owner(dataDirectory: String) -> Owner {
        guard kill(pid, 0) == 0 || errno == EPERM else { return .nobody }
        var here = stat()
        var there = stat()
        guard stat(dataDirectory, &here) == 0, stat("/proc/\(pid)/cwd", &there) == 0 else {
            // A zombie has no working directory. A process that this one may not inspect is not its server.
            return .stranger
        }
        return here.st_dev == there.st_dev && here.st_ino == there.st_ino ? .server : .stranger
    }
}
