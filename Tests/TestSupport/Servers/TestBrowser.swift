// A browser with a push subscription (RFC 8291), which decrypts alerts by an independent implementation.
import Basics
import Cryptography
import Domain
import Foundation

package struct TestBrowser: Sendable {
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
    package static let canRead = Tool.hasPython("http_ece")

    /// Returns the texts in these bodies; throws if one cannot be decrypted. Starts one process for all (0.5 s).
    package func read(_ bodies: [[UInt8]]) throws -> [String] {
        let lines = try bodies.map { body in
            let line = Line(
                private: Self.text(privateKey.scalar), auth: Self.text(secret),
                body: Self.text(body))
            return String(decoding: try JSONEncoder().encode(line), as: UTF8.self) + "\n"
        }
        let script = Repository.file("Tests/TestSupport/Servers/decrypt.py").path
        let output = try Tool.run(["/usr/bin/python3", script], input: Data(lines.joined().utf8))
        let answers = try output.split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(Line.self, from: $0)
        }
        return try answers.map { answer in
            guard let text = answer.text else { throw Tool.Failure(description: answer.error ?? "no text") }
            return text
        }
    }
}
