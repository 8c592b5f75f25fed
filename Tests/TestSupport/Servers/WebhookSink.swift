// An endpoint for webhooks as a process of a test. It records requests, and tests can make it misbehave. Its behaviour is
// in webhook_sink.py.
import Foundation
import Synchronization

/// The process ends with this value, or with the test process.
package final class WebhookSink: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// A request that the endpoint has received completely.
    package struct Request: Sendable, Decodable {
        package let path: String
        /// `webhook-id`.
        package let id: String?
        /// Nil if there was no answer. An acceptance whose answer was lost has 200.
        package let status: Int?
        /// Whether each secret of the path verifies the request; nil without secrets or standardwebhooks.
        package let verified: Bool?
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

    private struct Command: Encodable {
        var `do`: String
        var number = 0
        var path: String?
        var times: Int?
        var behaviour: Behaviour?
        var secrets: [String]?
        var text: String?
    }

    private struct Line: Decodable {
        let event: String
        let number: Int?
    }

    private struct Record {
        var requests: [Request] = []
        var doneNumbers: Set<Int> = []
        var isReady = false
        /// Bytes of the file that were read, up to the end of the last line.
        var byteCount: UInt64 = 0
    }

    package let port: Int
    private let directory: TemporaryDirectory
    private let process: Process
    private let input: Pipe
    private let commandCount = Atomic(0)
    private let record = Mutex(Record())

    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "webhook_sink.py").path

    package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    private init(port: Int, directory: TemporaryDirectory, process: Process, input: Pipe) {
        self.port = port
        self.directory = directory
        self.process = process
        self.input = input
    }

    deinit { process.terminate() }

    /// Whether PyPI's standardwebhooks is installed; `.ci/deps test` installs it if PyPI can be reached.
    package static let canVerify: Bool = {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = ["-c", "import standardwebhooks"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// Returns whether standardwebhooks accepts a request.
    package static func verify(secret: String, headers: [String: String], body: [UInt8]) throws -> Bool {
        struct Question: Encodable {
            let secret: String
            let headers: [String: String]
            let body: String
        }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = ["-B", script, "verify"]
        let input = Pipe()
        process.standardInput = input
        try process.run()
        let question = Question(secret: secret, headers: headers, body: String(decoding: body, as: UTF8.self))
        try input.fileHandleForWriting.write(contentsOf: JSONEncoder().encode(question))
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        guard [0, 3].contains(process.terminationStatus) else {
            throw Failure(description: "webhook_sink.py verify ended with \(process.terminationStatus)")
        }
        return process.terminationStatus == 0
    }

    /// - Parameter seed: of the behaviour `faults`.
    package static func start(seed: UInt64 = 7) async throws -> WebhookSink {
        let directory = try TemporaryDirectory()
        let port = try Sockets.freePort()
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = ["-B", script, "\(port)", "\(seed)"]
        let input = Pipe()
        process.standardInput = input
        try Data().write(to: URL(filePath: directory.path + "/output"))
        process.standardOutput = FileHandle(forWritingAtPath: directory.path + "/output")
        try Data().write(to: URL(filePath: directory.path + "/errors"))
        process.standardError = FileHandle(forWritingAtPath: directory.path + "/errors")
        try process.run()
        let sink = WebhookSink(port: port, directory: directory, process: process, input: input)
        try await sink.wait(for: "its start") { $0.isReady }
        return sink
    }

    // MARK: Steering. A change is in force when the call returns.

    /// - Parameters:
    ///   - times: the number of requests affected; earlier behaviours come first.
    ///   - text: only requests whose body has this text are affected; nil for all.
    package func behave(
        _ behaviour: Behaviour, of path: String, times: Int = 1, containing text: String? = nil
    ) async throws {
        try await tell(Command(do: "behaviour", path: path, times: times, behaviour: behaviour, text: text))
    }

    /// Ends all misbehaviour.
    package func restore(_ path: String) async throws { try await tell(Command(do: "restore", path: path)) }
    /// Every request of the path must be verified by each of these secrets.
    package func expect(_ secrets: [String], of path: String) async throws {
        try await tell(Command(do: "secrets", path: path, secrets: secrets))
    }
    /// The path answers commands with their text.
    package func echo(_ path: String) async throws { try await tell(Command(do: "echo", path: path)) }
    /// Closes the port and all connections, or opens the port again.
    package func close() async throws { try await tell(Command(do: "close")) }
    package func open() async throws { try await tell(Command(do: "open")) }

    private func tell(_ command: Command) async throws {
        var command = command
        command.number = commandCount.add(1, ordering: .relaxed).newValue
        let number = command.number
        try input.fileHandleForWriting.write(contentsOf: JSONEncoder().encode(command) + Data("\n".utf8))
        try await wait(for: command.do) { $0.doneNumbers.contains(number) }
    }

    private func wait(for what: String, until isThere: (Record) -> Bool) async throws {
        for _ in 0..<2_000 {
            if isThere(try read()) { return }
            guard process.isRunning else { break }
            try await Task.sleep(for: .milliseconds(5))
        }
        let errors = try String(contentsOfFile: directory.path + "/errors", encoding: .utf8)
        throw Failure(description: "the endpoint: \(what) didn't happen. \(errors)")
    }

    // MARK: Reading the record

    /// Returns the requests of a path so far, in the order of their acceptance or failure.
    package func requests(_ path: String) throws -> [Request] { try read().requests.filter { $0.path == path } }

    /// Returns the ids that a path has accepted so far, each once, in the order of first acceptance.
    package func acceptedIDs(_ path: String) throws -> [String] {
        var seen: Set<String> = []
        return try requests(path).filter(\.isAccepted).compactMap(\.id).filter { seen.insert($0).inserted }
    }

    private func read() throws -> Record {
        try record.withLock { record in
            guard let handle = FileHandle(forReadingAtPath: directory.path + "/output") else { return record }
            defer { try? handle.close() }
            try handle.seek(toOffset: record.byteCount)
            guard let data = try handle.readToEnd(), let end = data.lastIndex(of: UInt8(ascii: "\n")) else {
                return record
            }
            for line in data[..<end].split(separator: UInt8(ascii: "\n")) {
                let summary = try JSONDecoder().decode(Line.self, from: Data(line))
                switch summary.event {
                case "request": record.requests.append(try JSONDecoder().decode(Request.self, from: Data(line)))
                case "done": if let number = summary.number { record.doneNumbers.insert(number) }
                default: record.isReady = true
                }
            }
            record.byteCount += UInt64(end - data.startIndex + 1)
            return record
        }
    }
}
