// A real S3 server (OpenStack Swift from PyPI) as a process of a test, behind a proxy that makes faults. s3/proxy.py says
// what each fault does.
import Foundation

/// The server ends with this value, or with the test process.
package final class TestObjectStore: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package struct Fault: Codable, Sendable {
        package enum Kind: String, Codable, Sendable {
            case slowDown = "slow_down"
            case away
            case drop
            case lost
            case notFound = "not_found"
            case slow
        }

        let kind: Kind
        let method: String
        let times: Int

        package init(_ kind: Kind, _ method: String, times: Int = 1) {
            self.kind = kind
            self.method = method
            self.times = times
        }
    }

    /// A request that reached the proxy.
    package struct Request: Sendable, Equatable {
        package let method: String
        package let path: String
        package let fault: Fault.Kind?
    }

    private struct Ports: Decodable {
        let port: Int
        let direct: Int
    }

    private struct Faults: Encodable {
        let id: String
        let faults: [Fault]
    }

    package static let accessKey = "test:tester"
    package static let secretKey = "SECRET"
    package static let region = "us-east-1"
    package static let bucket = "files"

    /// PyPI's packages `swift` and `botocore`, which `.ci/deps test` installs.
    package static let packages: String = {
        let environment = ProcessInfo.processInfo.environment
        let cache = environment["XDG_CACHE_HOME"] ?? (environment["HOME"] ?? "") + "/.cache"
        return cache + "/parley-tests/s3"
    }()
    package static var isInstalled: Bool {
        FileManager.default.fileExists(atPath: packages + "/complete")
    }
    package static let needed = "PyPI's swift and botocore are not installed: run .ci/deps test"

    /// Through the proxy, for PARLEY_S3_ENDPOINT.
    package let endpoint: String
    /// Without the proxy.
    package let direct: String
    private let directory: TemporaryDirectory
    private let process: Process
    private let input: Pipe

    private init(directory: TemporaryDirectory, process: Process, input: Pipe, ports: Ports) {
        self.directory = directory
        self.process = process
        self.input = input
        endpoint = "http://127.0.0.1:\(ports.port)"
        direct = "http://127.0.0.1:\(ports.direct)"
    }

    deinit { process.terminate() }

    /// Starts a server with an empty bucket: some 3 s.
    package static func start() async throws -> TestObjectStore {
        let directory = try TemporaryDirectory()
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "s3/main.py").path
        process.arguments = ["-B", script, packages, directory.path, bucket]
        let input = Pipe()
        process.standardInput = input
        let output = directory.path + "/output"
        try Data().write(to: URL(filePath: output))
        process.standardOutput = FileHandle(forWritingAtPath: output)
        process.standardError = FileHandle(forWritingAtPath: output)
        try process.run()
        for _ in 0..<4_000 {
            let text = try Data(contentsOf: URL(filePath: output))
            if text.last == UInt8(ascii: "\n"), let ports = try? JSONDecoder().decode(Ports.self, from: text) {
                return TestObjectStore(directory: directory, process: process, input: input, ports: ports)
            }
            guard process.isRunning else { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw Failure(
            description: "the S3 server does not start: \(try String(contentsOfFile: output, encoding: .utf8))")
    }

    /// Makes the next requests fail. Faults set before end.
    package func set(_ faults: Fault...) throws {
        let data = try JSONEncoder().encode(Faults(id: UUID().uuidString, faults: faults))
        try data.write(to: URL(filePath: directory.path + "/faults.json"), options: .atomic)
    }

    /// The keys of all objects, as the server lists them.
    package func keys() async throws -> [String] {
        let curl = Process()
        curl.executableURL = URL(filePath: "/usr/bin/curl")
        curl.arguments = ["-sSf", "--max-time", "20", endpoint + "/keys"]
        let output = Pipe()
        curl.standardOutput = output
        try curl.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        curl.waitUntilExit()
        guard curl.terminationStatus == 0 else { throw Failure(description: "the bucket cannot be listed") }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init).sorted()
    }

    /// All requests so far, but those of `keys`.
    package func requests() throws -> [Request] {
        try String(contentsOfFile: directory.path + "/requests", encoding: .utf8).split(separator: "\n").map { line in
            let words = line.split(separator: " ").map(String.init)
            return Request(method: words[0], path: words[1], fault: Fault.Kind(rawValue: words[2]))
        }
    }
}

extension TestObjectStore {
    /// Returns the URLs that botocore presigns for requests in JSON (s3/sign.py).
    package static func botocoreURLs(_ requests: [String]) throws -> [String] {
        let directory = try TemporaryDirectory()
        let input = directory.path + "/input"
        try Data((requests.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: input))
        let python = Process()
        python.executableURL = URL(filePath: "/usr/bin/python3")
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "s3/sign.py").path
        python.arguments = ["-B", script, packages]
        python.standardInput = FileHandle(forReadingAtPath: input)
        let output = Pipe()
        python.standardOutput = output
        try python.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        python.waitUntilExit()
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
