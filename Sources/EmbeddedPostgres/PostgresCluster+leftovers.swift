// Cleans up after an earlier Parley process: a server that still runs, or a postmaster.pid whose process id now belongs
// to another process.

import Glibc
import Linux

extension PostgresCluster {
    private static let leftoverWaitMax: Duration = .seconds(60)

    /// Ends a server that still runs on this data directory, and makes a stale postmaster.pid harmless. The server is
    /// not reused. It would not be a child of this process, it would run with old settings, and it may be shutting down
    /// already: the kernel signalled it when the earlier Parley died.
    ///
    /// The caller holds the directory's lock, so no other Parley uses that server.
    func endLeftover() async throws {
        guard !isRunning, let file = try PostmasterFile.read(dataDirectory: configuration.dataDirectory) else { return }
        switch file.owner(dataDirectory: configuration.dataDirectory) {
        case .nobody:
            return
        case .stranger:
            try disown(file)
        case .server:
            try await end(file)
        }
    }

    private func end(_ file: PostmasterFile) async throws {
        if file.status != .stopping { _ = kill(file.pid, StopMode.fast.signal) }
        let start = ContinuousClock.now
        var stopsAtOnce = false
        while file.owner(dataDirectory: configuration.dataDirectory) == .server {
            let waited = start.duration(to: .now)
            if !stopsAtOnce && waited > Self.leftoverWaitMax / 2 {
                stopsAtOnce = true
                _ = kill(file.pid, StopMode.immediate.signal)
            }
            guard waited < Self.leftoverWaitMax else {
                throw EmbeddedPostgresError(
                    .startFailed,
                    "An earlier PostgreSQL (process \(file.pid)) still runs on "
                        + "\(configuration.dataDirectory) and does not end: end it by hand.")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Replaces the process id in postmaster.pid with this process's own. PostgreSQL refuses to start when any process
    /// of its user has the id in the file, but ignores its parent's id, which is this process's. The rest of the file
    /// stays: PostgreSQL needs it to find sessions that are still attached to the dead server's memory.
    private func disown(_ file: PostmasterFile) throws {
        let path = configuration.dataDirectory + "/postmaster.pid"
        guard let text = try Files.tail(path), let lineEnd = text.firstIndex(of: "\n") else { return }
        try Files.write("\(getpid())" + text[lineEnd...], to: path, mode: 0o600, owner: configuration.account)
    }
}
