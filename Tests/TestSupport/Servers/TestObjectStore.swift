// A real S3 server (OpenStack Swift from PyPI) as a process of a test, behind a proxy that makes faults. s3/proxy.py says
// what each fault does.
import Foundation

/// The server ends with this value, or with the test process.
package final class TestObjectStore: Sendable {
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

    private struct Line: ScriptLine {
        let number: Int?
        let port: Int
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

    /// Of the proxy, for PARLEY_S3_ENDPOINT.
    package let endpoint: String
    private let script: ScriptProcess<Line>
    private var directory: TemporaryDirectory { script.directory }

    /// Starts a server with an empty bucket: some 3 s.
    package static func start() async throws -> TestObjectStore { try await TestObjectStore() }

    private init() async throws {
        let directory = try TemporaryDirectory()
        let script = try ScriptProcess<Line>("s3/main.py", [Self.packages, directory.path, Self.bucket], in: directory)
        self.script = script
        let port = try await script.wait(for: "the start of the S3 server") { $0.first?.port }
        endpoint = "http://127.0.0.1:\(port)"
    }

    /// Makes the next requests fail. Faults set before end.
    package func set(_ faults: Fault...) throws {
        let data = try JSONEncoder().encode(Faults(id: UUID().uuidString, faults: faults))
        try data.write(to: URL(filePath: directory.path + "/faults.json"), options: .atomic)
    }

    /// The keys of all objects, as the server lists them.
    package func keys() async throws -> [String] {
        let text = try Tool.run(["curl", "-sSf", "--max-time", "20", endpoint + "/keys"])
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
        let script = Repository.file("Tests/TestSupport/Servers/s3/sign.py").path
        let text = try Tool.run(
            ["/usr/bin/python3", "-B", script, packages], input: Data((requests.joined(separator: "\n") + "\n").utf8))
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
