// A program to run: its arguments, its user, and how it is started. For one that keeps running see ChildProcess.

import FoundationEssentials
import Glibc

/// A program and how to start it. It gets a session of its own (Parley handles the terminal's Ctrl-C), a small
/// environment, no descriptors but the three given, and default signal handling.
package struct Program: Sendable {
    /// Absolute path.
    package var executable: String
    package var arguments: [String]
    /// The user to run as; nil for the user of this process.
    package var account: SystemAccount?
    /// Name of the signal ("INT") that the kernel sends the program when this process ends in any way; nil for none.
    package var signalAtOurDeath: String?
    /// The whole environment.
    package var environment: [String]

    package init(
        executable: String, arguments: [String], account: SystemAccount? = nil, signalAtOurDeath: String? = nil,
        environment: [String] = Program.usualEnvironment
    ) {
        self.executable = executable
        self.arguments = arguments
        self.account = account
        self.signalAtOurDeath = signalAtOurDeath
        self.environment = environment
    }

    /// Messages are in English, because they are searched and shown. Nothing is inherited that would change how
    /// PostgreSQL works.
    package static let usualEnvironment = ["PATH=/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL=C", "TZ=UTC", "HOME=/"]

    /// Returns the command line. It starts with setpriv if another user, or a signal at this process's death, is
    /// wanted. setpriv replaces itself with the program, so the process id is the program's.
    /// - Throws: `SetprivMissing` when another user is wanted.
    func commandLine() throws -> [String] {
        var options: [String] = []
        if let account {
            options += ["--reuid=\(account.userID)", "--regid=\(account.groupID)", "--clear-groups"]
        }
        if let signalAtOurDeath { options += ["--pdeathsig", signalAtOurDeath] }
        if options.isEmpty { return [executable] + arguments }
        guard let setpriv = Self.setpriv else {
            // Without setpriv an ordinary user's program only outlives a kill -9 of this process.
            guard account == nil else { throw SetprivMissing() }
            return [executable] + arguments
        }
        return [setpriv] + options + ["--", executable] + arguments
    }

    private static let setpriv: String? = ["/usr/bin/setpriv", "/bin/setpriv"].first { access($0, X_OK) == 0 }

    private static func highestDescriptor() throws -> Int32 {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }.max() ?? 2
    }

    /// POSIX_SPAWN_SETSID. spawn.h defines it for GNU programs only; part of glibc's binary interface since 2.26.
    private static let startsSession: Int32 = 0x80

    /// Starts it with the given descriptors as standard input, output and error (nil: the same as `output`). Returns
    /// its process id.
    func spawn(input: Int32, output: Int32, error: Int32? = nil) throws -> pid_t {
        let line = try commandLine()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, error ?? output, 2)
        // Nearly all descriptors are close-on-exec. A listening socket that is not would stay open in the child. The
        // range goes past the highest, for descriptors that other threads open now. Closing an unused one is no error.
        for file in 3...(try Self.highestDescriptor() + 256) { posix_spawn_file_actions_addclose(&actions, file) }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        // An ignored SIGTERM (usual in a server that reads signals from a queue) would be inherited.
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        let flags = Self.startsSession | Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var arguments: [UnsafeMutablePointer<CChar>?] = line.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
        defer { (arguments + variables).forEach { free($0) } }
        var pid = pid_t()
        let code = posix_spawn(&pid, line[0], &actions, &attributes, &arguments, &variables)
        guard code == 0 else { throw FileError("run", line[0], code: code) }
        return pid
    }

    /// Runs the program to its end with `input` as standard input. Returns its exit status and what it printed (the
    /// first 64 KiB of standard output and error together). For programs that end by themselves.
    package func run(input: String = "") async throws -> (status: Int32, output: String) {
        try await Blocking.run { try runBlocking(input: input) }
    }

    /// The same, blocking: for callers outside the cooperative pool.
    package func runBlocking(input: String = "") throws -> (status: Int32, output: String) {
        let toChild = try ProcessPipe()
        // A pipe holds 64 KiB without a reader, so all input is written before a reader exists that could go away.
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

    /// Runs the program to its end, without input, and passes what it prints to the descriptors. Blocks.
    /// - Parameter writtenMax: ends the program once it has written more bytes, to whatever files; checked every 10 ms.
    package func runBlocking(output: Int32, error: Int32, writtenMax: Int64? = nil) throws -> ChildProcess.Exit {
        let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard nothing >= 0 else { throw FileError("open", "/dev/null") }
        defer { close(nothing) }
        let pid = try spawn(input: nothing, output: output, error: error)
        var status: Int32 = 0
        if let writtenMax {
            while waitpid(pid, &status, WNOHANG) == 0 {
                if let count = Self.writtenByteCount(pid), count > writtenMax {
                    kill(pid, SIGKILL)
                    while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
                    throw WrittenTooMuch()
                }
                usleep(10_000)
            }
        } else {
            while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        }
        return ChildProcess.Exit(waitStatus: status)
    }

    /// What a child has written so far. Nil if it has ended.
    private static func writtenByteCount(_ pid: pid_t) -> Int64? {
        let file = open("/proc/\(pid)/io", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let text = String(decoding: Files.readAll(file, byteCountMax: 4_096), as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("wchar: ") }
        return line.flatMap { Int64($0.dropFirst("wchar: ".count)) }
    }
}

/// A program was ended because it had written more than it may.
package struct WrittenTooMuch: Error {}

/// setpriv, which runs programs as another user, is not installed.
package struct SetprivMissing: Error {}
