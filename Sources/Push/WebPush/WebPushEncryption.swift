// Web Push's encryption (RFC 8291) in one record of `aes128gcm` (RFC 8188): only the browser can read the alert.
import Crypto
import Domain

/// The browser's half of a subscription.
package struct WebPushKeys: Sendable {
    /// The bytes of plaintext that fit into one body of 4,096 bytes. A push service need not accept more (RFC 8030,
    /// 7.2).
    static let plaintextByteCountMax = recordByteCount - headerByteCount - 1 - tagByteCount
    private static let recordByteCount = 4_096
    private static let headerByteCount = 86
    private static let tagByteCount = 16
    private static let saltByteCount = 16

    private let key: P256.KeyAgreement.PublicKey
    private let secret: [UInt8]

    /// Nil unless the key is an uncompressed point on P-256 (65 bytes) and the secret has 16 bytes. Costs 5 µs.
    package init?(key: [UInt8], secret: [UInt8]) {
        guard key.count == 65, secret.count == 16,
            let point = try? P256.KeyAgreement.PublicKey(x963Representation: key)
        else { return nil }
        self.key = point
        self.secret = secret
    }

    /// Whether the bytes are an uncompressed point on P-256. 5 µs.
    @Sendable package static func isPoint(_ key: [UInt8]) -> Bool {
        key.count == 65 && (try? P256.KeyAgreement.PublicKey(x963Representation: key)) != nil
    }

    /// Returns the whole body: header and record. Key and salt are new each time, except in tests. Costs 130 µs.
    ///
    /// - Throws: what libcrypto reports.
    func encrypt(
        _ plaintext: [UInt8], with ours: P256.KeyAgreement.PrivateKey = .init(), salt: [UInt8] = freshSalt()
    ) throws -> [UInt8] {
        let point = Array(ours.publicKey.x963Representation)
        let (contentKey, nonce) = try derive(ours, point, salt: salt)
        // The only record is the last one: it ends with a 2, without padding.
        let sealed = try AES.GCM.seal(plaintext + [2], using: contentKey, nonce: nonce)
        var body = salt
        body.reserveCapacity(Self.headerByteCount + sealed.ciphertext.count + sealed.tag.count)
        withUnsafeBytes(of: UInt32(Self.recordByteCount).bigEndian) { body.append(contentsOf: $0) }
        body.append(UInt8(point.count))
        body.append(contentsOf: point)
        body.append(contentsOf: sealed.ciphertext)
        body.append(contentsOf: sealed.tag)
        return body
    }

    /// RFC 8291, 3.4.
    private func derive(
        _ ours: P256.KeyAgreement.PrivateKey, _ point: [UInt8], salt: [UInt8]
    ) throws -> (key: SymmetricKey, nonce: AES.GCM.Nonce) {
        let shared = try ours.sharedSecretFromKeyAgreement(with: key)
        let info = Array("WebPush: info\0".utf8) + Array(key.x963Representation) + point
        let material = shared.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: secret, sharedInfo: info, outputByteCount: 32)
        func expand(_ name: String, _ byteCount: Int) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: material, salt: salt, info: Array("Content-Encoding: \(name)\0".utf8),
                outputByteCount: byteCount)
        }
        let nonce = try expand("nonce", 12).withUnsafeBytes { try AES.GCM.Nonce(data: $0) }
        return (expand("aes128gcm", 16), nonce)
    }

    private static func freshSalt() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<saltByteCount).map { _ in generator.next() }
    }
}
