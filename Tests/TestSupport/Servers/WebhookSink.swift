// An endpoint for webhooks as a process of a test. It records requests, and tests can make it misbehave. Its behaviour is
// in webhook_sink.py.
import Foundation
import Synchronization

/// The process ends with this value, or with the test process.
package final class WebhookSink: Sendable {
    /// A request that the endpoint has received completely.
    package struct Request: Sendable, Decodable {
        package let path: String
        /// `webhook-id`.
        package let id: String?
        /// Nil if there was no answer. An acceptance whose answer was lost has 200.
        package let status: Int?
        /// Whether each secret of the path verifies the request; nil without secrets or standardwebhooks.
        package let verified: Bool?
        /// Why a secret did not verify the request.
        package let refusals: [String]
        package let body: String
        package let time: Double
        /// How many signatures it has.
        package let signatures: Int

        package var isAccepted: Bool { status.map { (200..<300).contains($0) } ?? false }
    }

    /// How the endpoint treats requests instead of accepting them.
    package struct Behaviour: Encodable, Sendable {
        private var kind: String
        private var seconds: Double?
        private var status: Int?
        private var share: Double?
        private var headers: [String: String]?
        private var body: String?

        private init(_ kind: String) { self.kind = kind }

        package static func answer(_ status: Int, headers: [String: String] = [:], body: String? = nil) -> Behaviour {
            var behaviour = Behaviour("answer")
            (behaviour.status, behaviour.headers, behaviour.body) = (status, headers, body)
            return behaviour
        }

        /// Accepts the request after this delay.
        package static func slow(seconds: Double) -> Behaviour {
            var behaviour = Behaviour("slow")
            behaviour.seconds = seconds
            return behaviour
        }

        /// This share of requests fails by 500, 503, 429, a closed connection or a lost answer, or is slow.
        package static func faults(share: Double) -> Behaviour {
            var behaviour = Behaviour("faults")
            behaviour.share = share
            return behaviour
        }

        /// Never answers, and accepts nothing.
        package static let hang = Behaviour("hang")
        /// Closes the connection without an answer and without accepting the request.
        package static let drop = Behaviour("drop")
        /// Accepts the request, and closes the connection without an answer.
        package static let lost = Behaviour("lost")
    }

    private struct Command: ScriptCommand {
        var `do`: String
        var number = 0
        var path: String?
        var times: Int?
        var behaviour: Behaviour?
        var secrets: [String]?
        var text: String?
    }

    private struct Line: ScriptLine {
        let event: String
        let number: Int?
        let request: Request?
    }

    package let port: Int
    private let script: ScriptProcess<Line>

    package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    private init(seed: UInt64) throws {
        port = try Sockets.freePort()
        script = try ScriptProcess("webhook_sink.py", ["\(port)", "\(seed)"], in: try TemporaryDirectory())
    }

    /// Whether PyPI's standardwebhooks is installed; `.ci/deps test` installs it if PyPI can be reached.
    package static let canVerify = Tool.hasPython("standardwebhooks")

    /// Returns whether standardwebhooks accepts a request.
    package static func verify(secret: String, headers: [String: String], body: [UInt8]) throws -> Bool {
        struct Question: Encodable {
            let secret: String
            let headers: [String: String]
            let body: String
        }
        let question = Question(secret: secret, headers: headers, body: String(decoding: body, as: UTF8.self))
        let script = Repository.file("Tests/TestSupport/Servers/webhook_sink.py").path
        let answer = try Tool.run(["/usr/bin/python3", "-B", script, "verify"], input: JSONEncoder().encode(question))
        return try JSONDecoder().decode(Bool.self, from: answer)
    }

    /// - Parameter seed: of the behaviour `faults`.
    package static func start(seed: UInt64 = 7) async throws -> WebhookSink {
        let sink = try WebhookSink(seed: seed)
        try await sink.script.wait(for: "the start of the endpoint") { $0.first { $0.event == "ready" } }
        return sink
    }

    // MARK: Steering. A change is in force when the call returns.

    /// - Parameters:
    ///   - times: the number of requests affected; earlier behaviours come first.
    ///   - text: only requests whose body has this text are affected; nil for all.
    package func behave(
        _ behaviour: Behaviour, of path: String, times: Int = 1, containing text: String? = nil
    ) async throws {
        try await script.tell(Command(do: "behaviour", path: path, times: times, behaviour: behaviour, text: text))
    }

    /// Ends all misbehaviour.
    package func restore(_ path: String) async throws { try await script.tell(Command(do: "restore", path: path)) }
    /// Every request of the path must be verified by each of these secrets.
    package func expect(_ secrets: [String], of path: String) async throws {
        try await script.tell(Command(do: "secrets", path: path, secrets: secrets))
    }
    /// The path answers commands with their text.
    package func echo(_ path: String) async throws { try await script.tell(Command(do: "echo", path: path)) }
    /// Closes the port and all connections, or opens the port again.
    package func close() async throws { try await script.tell(Command(do: "close")) }
    package func open() async throws { try await script.tell(Command(do: "open")) }

    // MARK: Reading the record

    /// Returns the requests of a path so far, in the order of their acceptance or failure.
    package func requests(_ path: String) throws -> [Request] {
        try script.lines.compactMap(\.request).filter { $0.path == path }
    }

    /// Returns the ids that a path has accepted so far, each once, in the order of first acceptance.
    package func acceptedIDs(_ path: String) throws -> [String] {
        var seen: Set<String> = []
        return try requests(path).filter(\.isAccepted).compactMap(\.id).filter { seen.insert($0).inserted }
    }
}
