// A Python program beside these files as a process of a test: it serves, prints what happens, and takes commands.

import Foundation
import Synchronization

/// A line of JSON that the program prints.
protocol ScriptLine: Decodable, Sendable {
    /// The number of the command that it answers.
    var number: Int? { get }
}

/// A line of JSON that the program reads.
protocol ScriptCommand: Encodable {
    var number: Int { get set }
}

/// The program ends with this value, or with the test process: its standard input ends then.
final class ScriptProcess<Line: ScriptLine>: Sendable {
    private struct Record {
        var lines: [Line] = []
        /// Bytes of the file that were read, up to the end of the last line.
        var byteCount: UInt64 = 0
    }

    /// Has the files `output` and `errors`, besides those of the program.
    let directory: TemporaryDirectory
    private let process = Process()
    private let input = Pipe()
    private let commandCount = Atomic(0)
    private let record = Mutex(Record())

    init(_ script: String, _ arguments: [String], in directory: TemporaryDirectory) throws {
        self.directory = directory
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = ["-B", Repository.file("Tests/TestSupport/Servers/\(script)").path] + arguments
        process.standardInput = input
        for name in ["output", "errors"] { try Data().write(to: URL(filePath: "\(directory.path)/\(name)")) }
        process.standardOutput = FileHandle(forWritingAtPath: directory.path + "/output")
        process.standardError = FileHandle(forWritingAtPath: directory.path + "/errors")
        try process.run()
    }

    deinit { if process.isRunning { process.terminate() } }

    /// Ends the program. By its input: it may have inherited a mask that blocks signals.
    func stop() async throws {
        try input.fileHandleForWriting.close()
        try await eventually("the program's end") { !process.isRunning }
    }

    /// All lines so far, in their order. Each is read once.
    var lines: [Line] {
        get throws {
            try record.withLock { record in
                guard let handle = FileHandle(forReadingAtPath: directory.path + "/output") else { return [] }
                defer { try? handle.close() }
                try handle.seek(toOffset: record.byteCount)
                guard let data = try handle.readToEnd(), let end = data.lastIndex(of: UInt8(ascii: "\n")) else {
                    return record.lines
                }
                for line in data[..<end].split(separator: UInt8(ascii: "\n")) {
                    record.lines.append(try JSONDecoder().decode(Line.self, from: Data(line)))
                }
                record.byteCount += UInt64(end - data.startIndex + 1)
                return record.lines
            }
        }
    }

    /// Waits until `find` returns a value, for 30 s at most.
    /// - Parameter what: what did not happen, said after that time.
    @discardableResult
    func wait<Value>(
        for what: @autoclosure () throws -> String, until find: ([Line]) throws -> Value?
    ) async throws -> Value {
        for _ in 0..<6_000 {
            if let value = try find(lines) { return value }
            guard process.isRunning else { break }
            try await Task.sleep(for: .milliseconds(5))
        }
        let errors = try String(contentsOfFile: directory.path + "/errors", encoding: .utf8)
        throw Tool.Failure(description: "\(try what()) didn't happen. \(errors)")
    }

    /// Sends a command, and returns the line that says that it was obeyed.
    @discardableResult
    func tell(_ command: some ScriptCommand) async throws -> Line {
        var command = command
        let number = commandCount.add(1, ordering: .relaxed).newValue
        command.number = number
        try input.fileHandleForWriting.write(contentsOf: JSONEncoder().encode(command) + Data("\n".utf8))
        return try await wait(for: "\(command)") { $0.last { $0.number == number } }
    }
}
