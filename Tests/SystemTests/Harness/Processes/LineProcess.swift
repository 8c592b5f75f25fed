// A program that reads commands as lines of JSON and answers each with a line of the same `id`.

import Foundation
import Synchronization
import TestSupport

/// A running program of this kind. It is killed when the last reference is released.
final class LineProcess: Sendable {
    /// The program ended before it answered.
    struct Ended: Error, CustomStringConvertible {
        let description: String
    }

    private struct State {
        var lastID = 0
        var waiting: [Int: CheckedContinuation<JSON, any Error>] = [:]
        /// The first line, which comes unasked.
        var greeting: JSON?
        var hasEnded = false
    }

    let program: TestProcess
    /// The other end is the program's standard input and output.
    private let socket: Int32
    private let state = Mutex(State())

    private init(_ program: TestProcess, socket: Int32) {
        self.program = program
        self.socket = socket
    }

    deinit {
        program.send(SIGKILL)
        // Ends the thread that reads, which has a descriptor of its own.
        shutdown(socket, Int32(SHUT_RDWR))
        close(socket)
    }

    /// Starts the program, and returns once it has printed its first line.
    static func start(
        _ line: [String], environment: [String: String] = [:], within limit: Duration = .seconds(60)
    ) async throws -> (process: LineProcess, greeting: JSON) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw Ended(description: "no socket: \(errno)")
        }
        let (own, other) = (ends[0], ends[1])
        defer { close(other) }
        let program = try await TestProcess.start(line, environment: environment, socket: other)
        let process = LineProcess(program, socket: own)
        let reading = fcntl(own, F_DUPFD_CLOEXEC, 0)
        Thread.detachNewThread { [weak process] in
            readLines(reading) { process?.receive($0) }
            process?.end()
            close(reading)
        }
        let greeting = try await eventually("the first line of \(line)", within: limit) { () -> JSON? in
            if let exit = program.exit { return ["ended": .string("\(exit): \(program.errors)")] }
            return process.state.withLock { $0.greeting }
        }
        if let reason = greeting["ended"].string { throw Ended(description: "\(line) \(reason)") }
        return (process, greeting)
    }

    /// Sends a command and returns the answer.
    /// - Throws: `Ended` if the program ends first, `TimedOut` after `limit`.
    func call(_ command: [String: JSON], within limit: Duration = .seconds(30)) async throws -> JSON {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let timer = Task {
            try await Task.sleep(for: limit)
            let late = state.withLock { $0.waiting.removeValue(forKey: id) }
            late?.resume(throwing: TimedOut(description: "an answer to \(JSON.object(command)) within \(limit)"))
        }
        defer { timer.cancel() }
        return try await withCheckedThrowingContinuation { continuation in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.waiting[id] = continuation }
                return state.hasEnded
            }
            guard !hasEnded else { return continuation.resume(throwing: ended) }
            var line = JSON.object(command.merging(["id": .init(id)]) { $1 }).data
            line.append(UInt8(ascii: "\n"))
            // A line is short and sent whole. If the program has ended, `end` fails this call.
            line.withUnsafeBytes { _ = Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        }
    }

    /// kill -9. Calls that wait fail.
    func kill() async throws {
        program.send(SIGKILL)
        try await program.waitForExit()
    }

    private var ended: Ended {
        Ended(description: "process \(program.pid): \(program.exit.map { "\($0)" } ?? "closed its output")")
    }

    private func receive(_ line: Data) {
        guard let answer = try? JSON(parsing: line) else { return }
        let continuation = state.withLock { state -> CheckedContinuation<JSON, any Error>? in
            guard let id = answer["id"].int else {
                state.greeting = state.greeting ?? answer
                return nil
            }
            return state.waiting.removeValue(forKey: id)
        }
        continuation?.resume(returning: answer)
    }

    private func end() {
        let waiting = state.withLock { state in
            state.hasEnded = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume(throwing: ended) }
    }

    /// Reads lines until the program closes its end.
    private static func readLines(_ socket: Int32, _ receive: (Data) -> Void) {
        let newline = Data("\n".utf8)
        var rest = Data()
        var chunk = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = recv(socket, &chunk, chunk.count, 0)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            rest.append(contentsOf: chunk[..<count])
            // A long line comes in many chunks, and is searched once.
            guard memchr(chunk, 10, count) != nil else { continue }
            while let end = rest.range(of: newline) {
                receive(rest[..<end.lowerBound])
                rest = rest[end.upperBound...]
            }
            rest = Data(rest)
        }
    }
}
