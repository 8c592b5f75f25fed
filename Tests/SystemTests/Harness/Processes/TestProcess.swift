// A program in a separate process: the executable under test, curl or bash. Independent of the program's purpose.

import Foundation
import Synchronization
import TestSupport

/// A running or ended process. The kernel kills it when the test process ends in any way.
final class TestProcess: Sendable {
    enum Exit: Sendable, Equatable {
        case status(Int32)
        case signal(Int32)
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let pid: pid_t
    private let streams: Streams
    private let ended = Mutex<Exit?>(nil)

    private init(pid: pid_t, streams: Streams) {
        self.pid = pid
        self.streams = streams
    }

    /// Starts the program with exactly this environment, `input` as its standard input, in `directory` or in the root.
    /// A separate thread starts it and waits for it, because the kernel sends the parent-death signal when a thread ends.
    /// - Parameter socket: replaces standard input and standard output. The caller closes it.
    static func start(
        _ line: [String], environment: [String: String] = [:], input: Data = Data(), in directory: String = "/",
        socket: Int32? = nil
    ) async throws -> TestProcess {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                do {
                    let streams = try Streams(input: input)
                    let pid = try spawn(line, environment: environment, streams, socket, in: directory)
                    let program = TestProcess(pid: pid, streams: streams)
                    continuation.resume(returning: program)
                    program.reap()
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    /// The exit; nil while the process runs.
    var exit: Exit? { ended.withLock { $0 } }

    /// Standard output so far.
    var output: Data { streams.output.contents }
    var errors: String { String(decoding: streams.errors.contents, as: UTF8.self) }

    /// Sends a signal unless the process has ended, so that a later process with the same id never gets it.
    func send(_ signal: Int32) {
        ended.withLock { if $0 == nil { _ = kill(pid, signal) } }
    }

    /// Waits for the end of the process, and kills it after the limit.
    @discardableResult
    func waitForExit(within limit: Duration = .seconds(30)) async throws -> Exit {
        do {
            return try await eventually("process \(pid) to end", within: limit, every: .milliseconds(1)) { exit }
        } catch {
            send(SIGKILL)
            throw error
        }
    }

    private func reap() {
        // Ended, but not reaped: the process id is not reused until `ended` is set.
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
        ended.withLock { exit in
            var status: Int32 = 0
            waitpid(pid, &status, 0)
            exit = status & 0x7f == 0 ? .status(status >> 8 & 0xff) : .signal(status & 0x7f)
        }
    }

    private static func spawn(
        _ line: [String], environment: [String: String], _ streams: Streams, _ socket: Int32?,
        in directory: String
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, socket ?? streams.input.descriptor, 0)
        posix_spawn_file_actions_adddup2(&actions, socket ?? streams.output.descriptor, 1)
        posix_spawn_file_actions_adddup2(&actions, streams.errors.descriptor, 2)
        // 256 more, because other threads may open files at this moment. Closing a file that is not open is no error.
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

        // env and setpriv replace themselves by the program, so the process id is the program's.
        let command =
            ["/usr/bin/env", "-C", directory, "/usr/bin/setpriv", "--pdeathsig", "KILL", "--"] + line
        let usual = ["PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"]
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

/// The three standard streams, as unlinked files: nothing is left of them when the processes have ended.
private struct Streams: Sendable {
    let input: NamelessFile
    let output: NamelessFile
    let errors: NamelessFile

    init(input data: Data) throws {
        input = try NamelessFile()
        output = try NamelessFile()
        errors = try NamelessFile()
        try input.fill(data)
    }
}

private final class NamelessFile: Sendable {
    let descriptor: Int32

    init() throws {
        var template = Array("\(TemporaryDirectory.parent)/parley-test-XXXXXX".utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw TestProcess.Failure(description: "no temporary file: \(errno)") }
        // A process may open its stream again; it must append then, too.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_APPEND)
        unlink(template)
    }

    deinit {
        close(descriptor)
    }

    var contents: Data {
        var data = Data()
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = pread(descriptor, &chunk, chunk.count, off_t(data.count))
            guard count > 0 else { return data }
            data.append(contentsOf: chunk[..<count])
        }
    }

    /// Writes the data, and rewinds for the reader.
    func fill(_ data: Data) throws {
        try FileHandle(fileDescriptor: descriptor).write(contentsOf: data)
        lseek(descriptor, 0, SEEK_SET)
    }
}
