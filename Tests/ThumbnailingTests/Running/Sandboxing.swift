// The kernel's limits around a process that reads strangers' bytes.
import Foundation
import Linux
import TestSupport
import Testing

@testable import ThumbnailSandbox

/// An executable that the build writes beside the test bundle.
func builtExecutable(_ name: String) throws -> String {
    try Files.resolve("/proc/self/exe").split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/" + name
}

@Suite("The sandbox", .timeLimit(.minutes(1)))
struct Sandboxing {
    @Test("lets a process read its input and write its output")
    func allowed() async throws {
        #expect(try await probe("echo", input: "x") == .init(status: "0", output: "x"))
    }

    @Test(
        "kills a process that makes another system call",
        arguments: [
            "open", "socket", "fork", "thread", "exec", "kill", "executable-memory", "made-executable", "descriptor-3",
        ])
    func forbidden(action: String) async throws {
        // A shell's status for a process that was ended by a signal: 128 and the signal.
        #expect(try await probe(action).status == "\(128 + SIGSYS)")
    }

    @Test("refuses memory above 512 MiB")
    func memory() async throws {
        #expect(try await probe("memory").status == "0")
    }

    @Test("kills a process after 5 s of processor time")
    func processor() async throws {
        #expect(try await probe("processor").status == "\(128 + SIGXCPU)")
    }

    @Test(
        "is complete before parley-thumbnailer reads the first byte, and no other system call follows",
        .enabled(
            if: Tool.permits(FileManager.default.isExecutableFile(atPath: "/usr/bin/strace")),
            "strace is not installed (.ci/deps test)"))
    func trace() async throws {
        let pillow = try await Pillow("make")
        for name in ["orientation-6.jpg", "cmyk.jpg", "alpha.png", "deep.png", "animated-alpha.webp", "colour.gif"] {
            let path = "\(pillow.directory.path)/\(name)"
            let shell = Program(
                executable: "/bin/sh",
                arguments: [
                    "-c", "strace -o '\(path).trace' '\(try builtExecutable("parley-thumbnailer"))' <'\(path)' | wc -c",
                ])
            let (_, output) = try await shell.run()
            let calls = try String(contentsOfFile: path + ".trace", encoding: .utf8).split(separator: "\n")
            // In some containers nothing may be traced.
            guard let filter = calls.lastIndex(where: { $0.hasPrefix("seccomp(SECCOMP_SET_MODE_FILTER") }) else {
                withKnownIssue("strace may not trace here") { Issue.record("\(output)") }
                return
            }
            #expect(!calls[..<filter].contains { $0.hasPrefix("read(0,") })
            let after = calls[(filter + 1)...].filter { !$0.hasPrefix("+++") }
            let names = Set(after.map { String($0.prefix { $0 != "(" }) })
            let allowed = Set(Sandbox.allowed + ["read", "write", "mmap", "mprotect"])
            #expect(names.isSubset(of: allowed), "\(name): \(names.subtracting(allowed))")
            #expect(names.isSuperset(of: ["read", "write", "exit_group"]))
            #expect(calls.last == "+++ exited with 0 +++")
        }
    }

    private struct Answer: Equatable {
        var status: String
        var output: String
    }

    private func probe(_ action: String, input: String = "") async throws -> Answer {
        // The pipe is there because the probe may not write to files. Descriptor 3 would be inherited.
        let script = "{ \"$0\" \(action) 2>/dev/null 3>/dev/null; echo \"=$?\"; } 2>/dev/null | cat"
        let shell = Program(executable: "/bin/sh", arguments: ["-c", script, try builtExecutable("SandboxProbe")])
        let fields = try await shell.run(input: input).output.split(separator: "=", omittingEmptySubsequences: false)
        try #require(fields.count == 2)
        return Answer(status: fields[1].trimmingCharacters(in: .whitespacesAndNewlines), output: String(fields[0]))
    }
}
