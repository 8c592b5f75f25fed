// The key that signs exports: Ed25519 (RFC 8032). All nodes share it, and it never changes.
import Basics
import Cryptography

/// A key pair. Only the public half leaves the service.
package struct ExportKey: Sendable {
    /// The DER prefix of an Ed25519 key (RFC 8410): SubjectPublicKeyInfo, 32 bytes of key follow.
    private static let derPrefix: [UInt8] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]

    private let key: Ed25519.PrivateKey

    /// The private half, as it is stored.
    package var seed: [UInt8] { key.seed }

    package var publicBytes: [UInt8] { key.publicKey.bytes }

    package static func make() -> ExportKey { ExportKey(key: .make()) }

    private init(key: Ed25519.PrivateKey) { self.key = key }

    /// Returns nil if the bytes are not a seed.
    package init?(seed: [UInt8]) {
        guard let key = Ed25519.PrivateKey(seed: seed) else { return nil }
        self.init(key: key)
    }

    /// Names the key: the first 16 digits of the SHA-256 of the public half, in hexadecimal.
    package var id: String { String(SHA256.digest(publicBytes).hexadecimal.prefix(16)) }

    /// The public half as PEM, as openssl reads it.
    package var publicPEM: String {
        "-----BEGIN PUBLIC KEY-----\n\((Self.derPrefix + publicBytes).base64)\n-----END PUBLIC KEY-----\n"
    }

    /// Returns the 64 bytes of a signature. Takes some 50 µs.
    /// - Throws: what libcrypto reports.
    func signature(of bytes: [UInt8]) throws -> [UInt8] { try key.signature(of: bytes) }

    /// Returns the last line of an export, with its line break: `{"type":"end",…,"sha256":"…","signature":"…"}`. With it
    /// a reader can prove that the export is whole and unchanged. The signature is of the line's own bytes before
    /// `,"signature"`, so it covers the digest and the counts.
    /// - Parameters:
    ///   - counts: what the export contains, by names that need no escaping in JSON.
    ///   - sha256: the digest of all bytes before the line, in hexadecimal.
    ///   - time: of the signature (RFC 3339).
    package func lastLine(counts: KeyValuePairs<String, Int>, sha256: String, at time: String) throws -> [UInt8] {
        let numbers = counts.map { "\"\($0)\":\($1)," }.joined()
        let signed =
            "{\"type\":\"end\",\(numbers)\"signed_at\":\"\(time)\",\"key_id\":\"\(id)\",\"sha256\":\"\(sha256)\""
        return Array("\(signed),\"signature\":\"\(try signature(of: Array(signed.utf8)).base64)\"}\n".utf8)
    }
}

extension [UInt8] {
    /// The bytes in base64 with padding.
    var base64: String {
        let text = Base64.standard.encode(self)
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }
}
