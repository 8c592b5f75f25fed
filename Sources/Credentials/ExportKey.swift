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
    package func signature(of bytes: [UInt8]) throws -> [UInt8] { try key.signature(of: bytes) }
}

extension [UInt8] {
    /// The bytes in base64 with padding.
    var base64: String {
        let text = Base64.standard.encode(self)
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }
}
