// An operator's policy as a process of a test. Its behaviour is in policy_server.py.
import Foundation

/// Decides by the first word of a message's text: `deny`, `rewrite`, `review`, `slow`, `500`, `429`, `drop`, `garbage`
/// and others; it allows all else. The process ends with this value, or by `stop`.
package final class PolicyServer: Sendable {
    private struct Line: ScriptLine {
        let event: String
        let number: Int?
    }

    package let port: Int
    private let script: ScriptProcess<Line>
    private var directory: TemporaryDirectory { script.directory }

    package var url: String { "http://127.0.0.1:\(port)/policy?key=secret" }

    private init() throws {
        let directory = try TemporaryDirectory()
        port = try Sockets.freePort()
        script = try ScriptProcess("policy_server.py", ["\(port)", directory.path], in: directory)
    }

    package static func start() async throws -> PolicyServer {
        let policy = try PolicyServer()
        try await policy.script.wait(for: "the start of the policy") { $0.first }
        return policy
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
    package func stop() async throws { try await script.stop() }
}
