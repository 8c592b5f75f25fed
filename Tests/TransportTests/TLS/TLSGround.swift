// A certificate for tests, a server with it, and the clients in client.py.

import Foundation
import Linux
import Synchronization
import TestBasics
import Testing

@testable import Transport

/// A directory with a certificate for 127.0.0.1, and the server's identity.
struct TLSGround {
    let directory: TemporaryDirectory
    let identity: TLSIdentity

    static let versions = ["TLSv1_2", "TLSv1_3"]

    /// - Parameter key: as `openssl req -newkey` expects it.
    init(key: [String] = ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]) async throws {
        directory = try TemporaryDirectory()
        try await Self.make("first", key, in: directory)
        identity = try TLSIdentity(Self.files("first", "first", in: directory))
    }

    static func files(_ certificate: String, _ key: String, in directory: TemporaryDirectory) -> TLSFiles {
        TLSFiles(certificate: "\(directory.path)/\(certificate).crt", key: "\(directory.path)/\(key).key")
    }

    /// Makes `name.crt` and `name.key`.
    static func make(_ name: String, _ key: [String], in directory: TemporaryDirectory) async throws {
        try await openssl(
            ["req", "-x509", "-newkey"] + key + [
                "-nodes", "-days", "2", "-subj", "/CN=\(name)", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                "\(directory.path)/\(name).key", "-out", "\(directory.path)/\(name).crt",
            ])
    }

    @discardableResult
    static func openssl(_ arguments: [String], input: String = "", mayFail: Bool = false) async throws -> String {
        let program = Program(executable: "/usr/bin/openssl", arguments: arguments, signalAtOurDeath: "KILL")
        let (status, output) = try await program.run(input: input)
        try #require(mayFail || status == 0, "\(output)")
        return output
    }

    /// Runs a scenario of client.py. Returns the lines that it printed.
    func client(_ scenario: String, _ arguments: [String] = [], of server: HTTPServer) async throws -> [String] {
        let client = try await start(scenario, arguments, of: server)
        return try await client.end()
    }

    func client(_ scenario: String, _ argument: String, of server: HTTPServer) async throws -> [String] {
        try await client(scenario, [argument], of: server)
    }

    /// Starts a scenario that waits for a line of the test.
    func start(_ scenario: String, _ arguments: [String] = [], of server: HTTPServer) async throws -> TLSClient {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "client.py").path
        return try await TLSClient(
            ["-B", script, String(server.port), "\(directory.path)/first.crt", scenario] + arguments,
            output: "\(directory.path)/\(UUID().uuidString)")
    }
}

/// A running scenario of client.py.
final class TLSClient: Sendable {
    private let process: ChildProcess
    private let input: FileHandle
    private let output: String

    fileprivate init(_ arguments: [String], output: String) async throws {
        let pipe = Pipe()
        try Data().write(to: URL(filePath: output))
        let file = try FileHandle(forWritingTo: URL(filePath: output))
        let program = Program(executable: "/usr/bin/python3", arguments: arguments, signalAtOurDeath: "KILL")
        process = try await ChildProcess.start(
            program, input: pipe.fileHandleForReading.fileDescriptor, output: file.fileDescriptor)
        try pipe.fileHandleForReading.close()
        try file.close()
        input = pipe.fileHandleForWriting
        self.output = output
    }

    /// What the client has printed.
    var lines: [String] {
        get throws {
            String(decoding: try Data(contentsOf: URL(filePath: output)), as: UTF8.self)
                .split(separator: "\n").map(String.init)
        }
    }

    /// Lets the client continue.
    func proceed() throws { try input.write(contentsOf: Data("\n".utf8)) }

    /// Waits for the end, and returns the lines.
    func end() async throws -> [String] {
        let exit = try await process.waitForExit()
        let lines = try lines
        try #require(exit == .status(0), "\(lines.joined(separator: "\n"))")
        return lines
    }
}

/// A server over TLS that answers by a closure.
func withTLSServer(
    _ ground: TLSGround, _ change: (inout TransportSettings) -> Void = { _ in },
    handler: @escaping @Sendable (InboundRequest, Reply) -> Void = echo,
    _ body: (HTTPServer) async throws -> Void
) async throws {
    try await withServer(
        {
            $0.tls = ground.identity
            change(&$0)
        }, handler: handler, body)
}
