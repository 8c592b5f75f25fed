// A browser with a push subscription (RFC 8291), which decrypts alerts by an independent implementation.
import Basics
import Cryptography
import Domain
import Foundation

package struct TestBrowser: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private struct Line: Codable {
        var `private`: String?
        var auth: String?
        var body: String?
        var text: String?
        var error: String?
    }

    private let privateKey: P256.PrivateKey
    /// The value of `keys.auth`.
    package let secret: [UInt8]

    package init() {
        self.init(privateKey: P256.PrivateKey.make(), secret: (0..<16).map { _ in UInt8.random(in: 0...255) })
    }

    package init(privateKey: P256.PrivateKey, secret: [UInt8]) {
        self.privateKey = privateKey
        self.secret = secret
    }

    /// The value of `keys.p256dh`.
    package var key: [UInt8] { privateKey.publicKey.point }
    package var keyText: String { Self.text(key) }

    /// Unpadded base64url, as in subscriptions.
    package static func text(_ bytes: [UInt8]) -> String { Base64.urlSafe.encode(bytes) }

    /// Whether PyPI's http_ece is installed; `.ci/deps test` installs it if PyPI can be reached.
    package static let canRead: Bool = {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = ["-c", "import http_ece"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// Returns the texts in these bodies; throws if one cannot be decrypted. Starts one process for all (0.5 s).
    package func read(_ bodies: [[UInt8]]) throws -> [String] {
        let directory = try TemporaryDirectory()
        let (input, output) = (directory.path + "/input", directory.path + "/output")
        let lines = try bodies.map { body in
            let line = Line(
                private: Self.text(privateKey.scalar), auth: Self.text(secret),
                body: Self.text(body))
            return String(decoding: try JSONEncoder().encode(line), as: UTF8.self) + "\n"
        }
        try Data(lines.joined().utf8).write(to: URL(filePath: input))
        try Data().write(to: URL(filePath: output))
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = [URL(filePath: #filePath).deletingLastPathComponent().appending(path: "decrypt.py").path]
        process.standardInput = FileHandle(forReadingAtPath: input)
        process.standardOutput = FileHandle(forWritingAtPath: output)
        try process.run()
        process.waitUntilExit()
        let answers = try Data(contentsOf: URL(filePath: output)).split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(Line.self, from: $0)
        }
        guard answers.count == bodies.count else { throw Failure(description: "decrypt.py fails") }
        return try answers.map { answer in
            guard let text = answer.text else { throw Failure(description: answer.error ?? "no text") }
            return text
        }
    }
}
