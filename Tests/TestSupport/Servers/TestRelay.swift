// A mail relay of Debian's aiosmtpd, with a certificate that only tests trust. relay.py defines how it treats which
// mail.
import Foundation

/// The relay ends with this value, or with the test process.
package final class TestRelay: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// A mail as it arrived.
    package struct Mail: Codable, Sendable {
        package let sender: String
        package let to: String
        package let tls: Bool
        package let login: String?
        /// Headers and bodies, lines ending in CRLF.
        package let content: String

        /// The code in the mail's text.
        package var code: String? { content.firstMatch(of: /\r\n    ([0-9]{6})\r\n/).map { String($0.1) } }
    }

    private struct Line: Decodable {
        let event: String
        let to: String?
        let starttls: Int?
        let tls: Int?
        let plain: Int?
    }

    /// With STARTTLS and a password required; with TLS from the first byte; with neither.
    package let ports: (startTLS: Int, tls: Int, plain: Int)
    /// For PARLEY_CA_FILE.
    package let certificate: String
    package static let credentials = (user: "parley", password: "s3cret@:/")

    private let directory: TemporaryDirectory
    private let process: Process
    private let input: Pipe
    private let output: String

    private init(
        directory: TemporaryDirectory, process: Process, input: Pipe, ports: (startTLS: Int, tls: Int, plain: Int)
    ) {
        self.directory = directory
        self.process = process
        self.input = input
        self.ports = ports
        certificate = directory.path + "/certificate.pem"
        output = directory.path + "/output"
    }

    deinit { process.terminate() }

    /// The relay that the tests of a process share; each test uses its own addresses.
    package static func shared() async throws -> TestRelay { try await start.value }

    private static let start = Task { try await make() }

    private static func make() async throws -> TestRelay {
        let directory = try TemporaryDirectory()
        let (certificate, key) = (directory.path + "/certificate.pem", directory.path + "/key.pem")
        let openssl = try Process.run(
            URL(filePath: "/usr/bin/openssl"),
            arguments: [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=relay", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
            ])
        openssl.waitUntilExit()

        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "relay.py").path
        process.arguments = [script, certificate, key]
        let input = Pipe()
        process.standardInput = input
        // Clients that disconnect make the relay print tracebacks.
        process.standardError = FileHandle.nullDevice
        try Data().write(to: URL(filePath: directory.path + "/output"))
        process.standardOutput = FileHandle(forWritingAtPath: directory.path + "/output")
        try process.run()
        for _ in 0..<1_000 {
            let line = try lines(directory.path + "/output").first
            if let line, let startTLS = line.starttls, let tls = line.tls, let plain = line.plain {
                return TestRelay(
                    directory: directory, process: process, input: input, ports: (startTLS, tls, plain))
            }
            guard process.isRunning else { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw Failure(description: "the test relay does not start: is python3-aiosmtpd installed (.ci/deps test)?")
    }

    private static func lines<Value: Decodable>(_ file: String, as _: Value.Type = Line.self) throws -> [Value] {
        try Data(contentsOf: URL(filePath: file)).split(separator: UInt8(ascii: "\n")).compactMap {
            try? JSONDecoder().decode(Value.self, from: $0)
        }
    }

    /// Returns the mails to an address accepted so far.
    package func mails(to address: String) throws -> [Mail] {
        try Self.lines(output, as: Mail.self).filter { $0.to == address }
    }

    /// Returns how often mail to an address was offered.
    package func attempts(to address: String) throws -> Int {
        try Self.lines(output).count { $0.event == "recipient" && $0.to == address }
    }

    /// Waits until an address has received `count` mails (20 s at most), and returns the last.
    @discardableResult
    package func mail(to address: String, count: Int = 1) async throws -> Mail {
        for _ in 0..<4_000 {
            let mails = try mails(to: address)
            if mails.count >= count, let last = mails.last { return last }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw Failure(description: "\(address) has received \(try mails(to: address).count) mails, not \(count)")
    }
}
