// A mail relay of Debian's aiosmtpd, with a certificate that only tests trust. relay.py defines how it treats which
// mail.
import Foundation

/// The relay ends with this value, or with the test process.
package final class TestRelay: Sendable {
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

    /// With STARTTLS and a password required; with TLS from the first byte; with neither.
    package struct Ports: Decodable, Sendable {
        package let startTLS: Int
        package let tls: Int
        package let plain: Int
    }

    private struct Line: ScriptLine {
        let event: String
        let number: Int?
        let to: String?
        let ports: Ports?
        let mail: Mail?
    }

    package static let credentials = (user: "parley", password: "s3cret@:/")

    package let ports: Ports
    private let script: ScriptProcess<Line>
    /// For PARLEY_CA_FILE.
    package var certificate: String { script.directory.path + "/certificate.pem" }

    /// The relay that the tests of a process share; each test uses its own addresses.
    package static func shared() async throws -> TestRelay { try await start.value }

    private static let start = Task { try await TestRelay() }

    private init() async throws {
        let directory = try TemporaryDirectory()
        let (certificate, key) = (directory.path + "/certificate.pem", directory.path + "/key.pem")
        try Tool.makeCertificate(certificate, key: key, name: "relay")
        let script = try ScriptProcess<Line>("relay.py", [certificate, key], in: directory)
        self.script = script
        ports = try await script.wait(for: "the start of the relay (python3-aiosmtpd is needed: .ci/deps test)") {
            $0.first?.ports
        }
    }

    /// Returns the mails to an address accepted so far.
    package func mails(to address: String) throws -> [Mail] {
        try script.lines.compactMap(\.mail).filter { $0.to == address }
    }

    /// Returns how often mail to an address was offered.
    package func attempts(to address: String) throws -> Int {
        try script.lines.count { $0.event == "recipient" && $0.to == address }
    }

    /// Waits until an address has received `count` mails, and returns the last.
    @discardableResult
    package func mail(to address: String, count: Int = 1) async throws -> Mail {
        try await script.wait(for: "mail \(count) to \(address), which has \(try mails(to: address).count),") { _ in
            let mails = try mails(to: address)
            return mails.count >= count ? mails.last : nil
        }
    }
}
