// A program as a process of its own, as a shell would start it: the executable under test, curl, bash.
// What they are for is not known here.

import Foundation
import Synchronization
import TestSupport

/// A running or ended process. The kernel kills it when the test process dies, however that happens.
final class Program: Sendable {
    enum Exit: Sendable, Equatable {
        case status(Int32)
        case signal(Int32)
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let pid: pid_t
    private let files: TemporaryDirectory
    private let ended = Mutex<Exit?>(nil)

    private init(pid: pid_t, files: TemporaryDirectory) {
        self.pid = pid
        self.files = files
    }

    /// Starts it with this environment and no other, `input` as its standard input, in the directory given or an empty
    /// one. Each has a thread that starts it and waits for it: the kernel's parent-death signal is the thread's.
    static func start(
        _ line: [String], environment: [String: String] = [:], input: Data = Data(), in directory: String? = nil
    ) async throws -> Program {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                do {
                    let files = try TemporaryDirectory()
                    try input.write(to: URL(filePath: files.path + "/stdin"))
                    let pid = try spawn(line, environment: environment, files: files.path, directory: directory)
                    let program = Program(pid: pid, files: files)
                    continuation.resume(returning: program)
                    program.reap()
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    /// How it ended; nil while it runs.
    var exit: Exit? { ended.withLock { $0 } }

    var output: Data { contents("stdout") }
    var errors: String { String(decoding: contents("stderr"), as: UTF8.self) }

    /// Signals it unless it has ended: never a process that got the same number later.
    func send(_ signal: Int32) {
        ended.withLock { if $0 == nil { _ = kill(pid, signal) } }
    }

    /// Waits for its end; past the limit it is killed.
    @discardableResult
    func waitForExit(within limit: Duration) async throws -> Exit {
        do {
            return try await eventually("the end of process \(pid)", within: limit, every: .milliseconds(1)) { exit }
        } catch {
            send(SIGKILL)
            throw error
        }
    }

    private func contents(_ name: String) -> Data {
        FileManager.default.contents(atPath: files.path + "/" + name) ?? Data()
    }

    private func reap() {
        // Ended, but not reaped: its number stays its own until the state says that it is gone.
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
        ended.withLock { exit in
            var status: Int32 = 0
            waitpid(pid, &status, 0)
            exit = status & 0x7f == 0 ? .status(status >> 8 & 0xff) : .signal(status & 0x7f)
        }
    }

    private static func spawn(
        _ line: [String], environment: [String: String], files: String, directory: String?
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, files + "/stdin", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, files + "/stdout", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, files + "/stderr", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        // Some beyond the highest, for those that other threads open just now: closing what isn't open is no error.
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
        for file in 3...((open.max() ?? 2) + 256) { posix_spawn_file_actions_addclose(&actions, file) }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        // Both replace themselves by what they run: the process id is the program's.
        let command =
            ["/usr/bin/env", "-C", directory ?? files, "/usr/bin/setpriv", "--pdeathsig", "KILL", "--"] + line
        let usual = ["PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": files, "LC_ALL": "C.UTF-8"]
        let variables = usual.merging(environment) { $1 }
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        var pairs: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (arguments + pairs).forEach { free($0) } }
        var pid = pid_t()
        let code = posix_spawn(&pid, command[0], &actions, &attributes, &arguments, &pairs)
        guard code == 0 else { throw Failure(description: "can't run \(line[0]): \(String(cString: strerror(code)))") }
        return pid
    }
}
