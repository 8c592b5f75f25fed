// Reads postmaster.pid, and tells whether the process it names is really the server of that directory.
// Ending that server is PostgresCluster's.

import Glibc
import Linux

/// What a server says, or said, of itself in `postmaster.pid` (PostgreSQL's pidfile.h: one item a line).
struct PostmasterFile: Sendable {
    enum Status: String, Sendable {
        case starting, stopping, ready, standby
    }

    let pid: pid_t
    /// Nil while the server hasn't written it yet.
    let status: Status?

    /// Nil if there is no such file, or no sense in it.
    static func read(dataDirectory: String) throws -> PostmasterFile? {
        try Files.tail(dataDirectory + "/postmaster.pid").flatMap(PostmasterFile.init(parsing:))
    }

    init?(parsing text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        // Negative: a single-user backend, which is nobody's server.
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
        /// The number belongs to some other process by now.
        case stranger
    }

    /// Whose process the number is now. A postmaster works in its data directory and nothing else does.
    func owner(dataDirectory: String) -> Owner {
        guard kill(pid, 0) == 0 || errno == EPERM else { return .nobody }
        var here = stat()
        var there = stat()
        guard stat(dataDirectory, &here) == 0, stat("/proc/\(pid)/cwd", &there) == 0 else {
            // A zombie has no working directory; a process that we may not look into is no server of ours.
            return .stranger
        }
        return here.st_dev == there.st_dev && here.st_ino == there.st_ino ? .server : .stranger
    }
}
