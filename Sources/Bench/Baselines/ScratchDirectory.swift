// A temporary directory for the files of a baseline's programs, and the programs started in it.
import Foundation
import Glibc
import Linux

/// A new temporary directory. The owner calls `remove`.
struct ScratchDirectory: Sendable {
    let path: String

    /// In the directory that TMPDIR names, or in /tmp.
    init(environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        let parent = environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        var template = Array("\(parent)/parley-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw BenchFailure("cannot create a directory in \(parent): \(SystemFailure(code: errno))")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func file(_ name: String) -> String { path + "/" + name }

    func write(_ text: String, to name: String) throws {
        try text.write(toFile: file(name), atomically: true, encoding: .utf8)
    }

    /// Returns the file's text; empty for a file that cannot be read.
    func read(_ name: String) -> String { (try? String(contentsOfFile: file(name), encoding: .utf8)) ?? "" }

    /// Starts a program that ends with this process at the latest. Its output goes to the file.
    func start(_ program: String, _ arguments: [String], output name: String) async throws -> ChildProcess {
        let input = open("/dev/null", O_RDONLY | O_CLOEXEC)
        let output = open(file(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer {
            close(input)
            close(output)
        }
        guard input >= 0, output >= 0 else { throw SystemFailure(code: errno) }
        let command = Program(executable: program, arguments: arguments, signalAtOurDeath: "TERM")
        return try await ChildProcess.start(command, input: input, output: output)
    }

    func remove() {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            Progress.report("cannot remove \(path): \(error.localizedDescription)")
        }
    }
}

extension ChildProcess {
    /// Asks the process to end, kills it after 5 s, and returns when it has ended. Ignores cancellation.
    func end() async {
        send(SIGTERM)
        guard await waitForExit(atMost: .seconds(5)) == nil else { return }
        send(SIGKILL)
        _ = await waitForExit(atMost: .seconds(5))
    }
}
