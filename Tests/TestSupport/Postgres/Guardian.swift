// Removes a test cluster's directory when the test process ends in any way. The kernel ends the server itself.

import Foundation
import Linux

/// A directory, and a shell that waits for the end of a pipe. Only the test process holds the pipe open, so the kernel
/// closes it however the process ends.
final class Guardian: Sendable {
    let directory: String
    /// The path at which a separate disk may be mounted.
    var diskDirectory: String { directory + "/disk" }
    private let process: ChildProcess
    private let pipe: ProcessPipe

    private init(directory: String, process: ChildProcess, pipe: ProcessPipe) {
        self.directory = directory
        self.process = process
        self.pipe = pipe
    }

    /// Waits for the end, then for the server (at most 10 s), then unmounts its disk and removes the directory.
    private static let script = """
        read -r _
        n=0
        for pid in "$1/postgres/postmaster.pid" "$1/disk/postgres/postmaster.pid"; do
            while [ $n -lt 100 ] && [ -e "$pid" ] && kill -0 "$(head -n 1 "$pid")" 2>/dev/null; do
                sleep 0.1; n=$((n + 1))
            done
        done
        [ ! -d "$1/disk" ] || umount "$1/disk" 2>/dev/null || umount -l "$1/disk"
        rm -rf "$1"
        """

    static func start() async throws -> Guardian {
        let directory = try TemporaryDirectory.make()
        let pipe = try ProcessPipe()
        let shell = Program(executable: "/bin/sh", arguments: ["-c", script, "sh", directory])
        let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(null) }
        let process = try await ChildProcess.start(shell, input: pipe.readEnd, output: null)
        return Guardian(directory: directory, process: process, pipe: pipe)
    }

    /// Makes the socket's directory for the user that PostgreSQL runs as (root's servers run as another).
    func prepare(socketDirectory: String) throws -> SystemAccount? {
        let account = geteuid() == 0 ? SystemAccount.named("postgres") ?? SystemAccount.named("nobody") : nil
        guard mkdir(socketDirectory, 0o700) == 0 else { throw CocoaError(.fileWriteUnknown) }
        if let account { _ = chown(socketDirectory, account.userID, account.groupID) }
        return account
    }

    /// Removes the directory now, and returns when it is gone.
    func end() async {
        pipe.closeWriteEnd()
        _ = await process.waitForExit(atMost: .seconds(20))
    }
}
