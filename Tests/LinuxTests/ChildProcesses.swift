// Programs started and waited for.
import Foundation
import Testing

@testable import Linux

@Suite("A child process", .timeLimit(.minutes(1)))
struct ChildProcesses {
    @Test(
        "reports how it ended",
        arguments: [
            ("exit 3", ChildProcess.Exit.status(3), "exited with status 3"),
            ("kill -9 $$", .signal(9), "was ended by signal 9"),
        ])
    func exit(script: String, exit: ChildProcess.Exit, words: String) async throws {
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        let shell = Program(executable: "/bin/sh", arguments: ["-c", script])
        let child = try await ChildProcess.start(shell, input: null, output: null)
        #expect(try await child.waitForExit() == exit)
        #expect(await child.waitForExit(atMost: .zero) == exit)
        #expect(exit.description == words)
        #expect(!child.isRunning)
    }

    @Test("reports the processor time that it used, and not the time that it slept")
    func processorTime() async throws {
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        func time(_ script: String) async throws -> Duration {
            let shell = Program(executable: "/bin/sh", arguments: ["-c", script])
            let child = try await ChildProcess.start(shell, input: null, output: null)
            _ = try await child.waitForExit()
            return child.processorTime
        }
        let (busy, idle) = (try await time("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"), try await time(":"))
        #expect(busy > idle && busy > .milliseconds(50), "\(busy), \(idle)")
    }

    @Test("is waited for no longer than asked")
    func bound() async throws {
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        let sleep = Program(executable: "/bin/sleep", arguments: ["100"])
        let child = try await ChildProcess.start(sleep, input: null, output: null)
        #expect(await child.waitForExit(atMost: .milliseconds(10)) == nil)
        child.send(SIGKILL)
        #expect(try await child.waitForExit() == .signal(9))
    }

    @Test("gets no descriptor but the three, no ignored signal and a small environment")
    func clean() async throws {
        let leak = open("/dev/null", O_RDONLY)
        defer { close(leak) }
        let shell = Program(
            executable: "/bin/sh",
            arguments: ["-c", "ls /proc/self/fd; grep SigIgn /proc/$$/status; env | grep -c ^PG"])
        let lines = try await shell.run().output.split(separator: "\n")
        // The fourth is the directory that ls reads.
        #expect(lines.prefix(4) == ["0", "1", "2", "3"])
        // Above the 31 ordinary signals are two that the C library keeps for itself.
        let ignored = try #require(lines.first { $0.hasPrefix("SigIgn:") })
        #expect(UInt64(ignored.suffix(16), radix: 16).map { $0 & 0x7fff_ffff } == 0)
        #expect(lines.last == "0")
    }

    @Test("that cannot be run is an error with its path")
    func missing() async throws {
        let error = await #expect(throws: FileError.self) {
            try await Program(executable: "/nonexistent/x", arguments: []).run()
        }
        #expect(error?.description == "cannot run /nonexistent/x: No such file or directory")
    }
}
