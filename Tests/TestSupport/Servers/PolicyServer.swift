// An operator's policy as a process of a test. Its behaviour is in policy_server.py.
import Foundation

/// Decides by the first word of a message's text: `deny`, `rewrite`, `review`, `slow`, `500`, `429`, `drop`, `garbage`
/// and others; it allows all else. The process ends with this value, or by `stop`.
package final class PolicyServer: Sendable {
    package let port: Int
    private let directory: TemporaryDirectory
    private let process: Process
    /// The process ends when this is closed. It may have inherited a mask that blocks signals.
    private let input: Pipe

    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "policy_server.py").path

    package var url: String { "http://127.0.0.1:\(port)/policy?key=secret" }

    private init(port: Int, directory: TemporaryDirectory, process: Process, input: Pipe) {
        self.port = port
        self.directory = directory
        self.process = process
        self.input = input
    }

    package static func start() async throws -> PolicyServer {
        let directory = try TemporaryDirectory()
        let port = try Sockets.freePort()
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = ["-B", script, "\(port)", directory.path]
        let input = Pipe()
        process.standardInput = input
        try process.run()
        let isReady = try await eventually("the policy server is ready, or ends") {
            if FileManager.default.fileExists(atPath: directory.path + "/ready") { return true }
            return process.isRunning ? nil : false
        }
        guard isReady else { throw CocoaError(.executableLoad) }
        return PolicyServer(port: port, directory: directory, process: process, input: input)
    }

    /// From now on every question gets the answer of this word, or this JSON; nil: by the text again.
    package func behave(_ word: String?) throws {
        try Data((word ?? "").utf8).write(to: URL(filePath: directory.path + "/behaviour"), options: .atomic)
    }

    /// The questions so far whose body has this text.
    package func questions(about text: String) throws -> [String] {
        guard let data = FileManager.default.contents(atPath: directory.path + "/questions") else { return [] }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map { String($0) }
            .filter { $0.contains(text) }
    }

    /// Ends the process: nothing listens on the port any more.
    package func stop() async throws {
        try input.fileHandleForWriting.close()
        try await eventually("the end of the policy server") { !process.isRunning }
    }
}
