// What to run, as whom, and how to run it to its end. A server that outlives the call is a ChildProcess.

import FoundationEssentials
import Glibc
import Synchronization

/// A program and how to start it: in a session of its own (the terminal's Ctrl-C is Parley's to handle), with a small
/// fixed environment, no descriptors but the three given, default signal handling.
package struct Command: Sendable {
    /// Absolute path.
    package var executable: String
    package var arguments: [String]
    /// Run as this user; nil: as ourselves.
    package var account: Account?
    /// Name of the signal ("INT") that the kernel sends it when we die, however we die; nil: none.
    package var signalAtOurDeath: String?

    package init(
        executable: String, arguments: [String], account: Account? = nil, signalAtOurDeath: String? = nil
    ) {
        self.executable = executable
        self.arguments = arguments
        self.account = account
        self.signalAtOurDeath = signalAtOurDeath
    }

    /// Messages in English (they are searched and shown), nothing inherited that would steer PostgreSQL.
    static let environment = ["PATH=/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL=C", "TZ=UTC", "HOME=/"]

    /// The command line, through setpriv where another user or a death signal is asked for. setpriv replaces itself by
    /// the program, so the process id is the program's.
    func commandLine() throws -> [String] {
        var options: [String] = []
        if let account {
            options += ["--reuid=\(account.userID)", "--regid=\(account.groupID)", "--clear-groups"]
        }
        if let signalAtOurDeath { options += ["--pdeathsig", signalAtOurDeath] }
        if options.isEmpty { return [executable] + arguments }
        guard let setpriv = Self.setpriv else {
            // Without setpriv an ordinary user's server merely outlives a kill -9 of ours; the next start finds it.
            if account == nil { return [executable] + arguments }
            throw EmbeddedPostgresError(
                .binariesMissing,
                "setpriv is needed to run PostgreSQL as another user than root and was not found: "
                    + "install it (Debian: apt install util-linux), or start Parley as an ordinary user.")
        }
        return [setpriv] + options + ["--", executable] + arguments
    }

    private static let setpriv: String? = ["/usr/bin/setpriv", "/bin/setpriv"].first { path in access(path, X_OK) == 0
    }

    private static func highestDescriptor() throws -> Int32 {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }.max() ?? 2
    }

    /// spawn.h gives it to GNU programs only; part of glibc's binary interface since 2.26.
    private static let startsSession: Int32 = 0x80

    /// Starts it with the given descriptors as standard input, output and error; returns its process id.
    func spawn(input: Int32, output: Int32) throws -> pid_t {
        let line = try commandLine()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, output, 2)
        // Nearly all descriptors close by themselves; a listening socket that didn't would outlive us in the child.
        // Some beyond the highest, for those that other threads open just now: closing what isn't open is no error.
        for file in 3...(try Self.highestDescriptor() + 256) { posix_spawn_file_actions_addclose(&actions, file) }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        // An ignored SIGTERM (usual in a server that takes signals through a queue) would be inherited.
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        let flags = Self.startsSession | Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var arguments: [UnsafeMutablePointer<CChar>?] = line.map { strdup($0) } + [nil]
        var environment: [UnsafeMutablePointer<CChar>?] = Self.environment.map { strdup($0) } + [nil]
        defer { (arguments + environment).forEach { free($0) } }
        var pid = pid_t()
        let code = posix_spawn(&pid, line[0], &actions, &attributes, &arguments, &environment)
        guard code == 0 else { throw FileError("run", line[0], code: code) }
        return pid
    }

    /// Runs it to its end, `input` given to it, and returns its exit status with what it printed (the first 64 KiB of
    /// standard output and error together). For commands that end by themselves.
    package func run(input: String = "") async throws -> (status: Int32, output: String) {
        try await Blocking.run { try runBlocking(input: input) }
    }

    /// The same for callers that are off the cooperative pool already.
    func runBlocking(input: String = "") throws -> (status: Int32, output: String) {
        let toChild = try ProcessPipe()
        // A pipe takes 64 KiB without a reader, so all of it is written before there is one that could go away.
        precondition(input.utf8.count <= 16_384)
        _ = Array(input.utf8).withUnsafeBytes { write(toChild.writeEnd, $0.baseAddress, $0.count) }
        toChild.closeWriteEnd()
        let fromChild = try ProcessPipe()
        let pid = try spawn(input: toChild.readEnd, output: fromChild.writeEnd)
        fromChild.closeWriteEnd()
        let output = Files.readAll(fromChild.readEnd, byteCountMax: 65_536)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        return (status, String(decoding: output, as: UTF8.self))
    }
}

/// A pipe whose ends close with it, and are never inherited unless handed over. Made of a socket pair, since pipe2 is
/// hidden from Swift and pipe(2) alone can't keep its ends from a child that another thread starts meanwhile.
package final class ProcessPipe: Sendable {
    package let readEnd: Int32
    package let writeEnd: Int32
    private let writeEndIsOpen = Atomic(true)

    package init() throws {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw FileError("make", "a pipe") }
        readEnd = ends[0]
        writeEnd = ends[1]
    }

    package func closeWriteEnd() {
        if writeEndIsOpen.exchange(false, ordering: .relaxed) { close(writeEnd) }
    }

    deinit {
        closeWriteEnd()
        close(readEnd)
    }
}
