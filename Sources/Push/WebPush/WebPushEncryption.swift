// Web Push's encryption (RFC 8291) in one record of `aes128gcm` (RFC 8188): only the browser can read the alert.
import Cryptography
import Domain

/// The browser's half of a subscription.
package struct WebPushKeys: Sendable {
    /// The bytes of plaintext that fit into one body of 4,096 bytes. A push service need not accept more (RFC 8030,
    /// 7.2).
    static let plaintextByteCountMax = recordByteCount - headerByteCount - 1 - AES128GCM.tagByteCount
    private static let recordByteCount = 4_096
    private static let headerByteCount = 86
    private static let saltByteCount = 16

    private let key: P256.PublicKey
    private let secret: [UInt8]

    /// Nil unless the key is an uncompressed point on P-256 (65 bytes) and the secret has 16 bytes. Costs 5 µs.
    package init?(key: [UInt8], secret: [UInt8]) {
        guard secret.count == 16, let point = P256.PublicKey(point: key) else { return nil }
        self.key = point
        self.secret = secret
    }

    /// Whether the bytes are an uncompressed point on P-256. 5 µs.
    @Sendable package static func isPoint(_ key: [UInt8]) -> Bool {
        P256.PublicKey(point: key) != nil
    }

    /// Returns the whole body: header and record. Key and salt are new each time, except in tests. Costs 130 µs.
    ///
    /// - Throws: what libcrypto reports.
    func encrypt(
        _ plaintext: [UInt8], with ours: P256.PrivateKey = .make(),
        salt: [UInt8] = RandomBytes.make(count: saltByteCount)
    ) throws -> [UInt8] {
        let point = ours.publicKey.point
        let (contentKey, nonce) = try derive(ours, salt: salt)
        // The only record is the last one: it ends with a 2, without padding.
        let sealed = try AES128GCM.seal(plaintext + [2], key: contentKey, nonce: nonce)
        var body = salt
        body.reserveCapacity(Self.headerByteCount + sealed.count)
        withUnsafeBytes(of: UInt32(Self.recordByteCount).bigEndian) { body.append(contentsOf: $0) }
        body.append(UInt8(point.count))
        body.append(contentsOf: point)
        body.append(contentsOf: sealed)
        return body
    }

    /// RFC 8291, 3.4.
    private func derive(_ ours: P256.PrivateKey, salt: [UInt8]) throws -> (key: [UInt8], nonce: [UInt8]) {
        let info = Array("WebPush: info\0".utf8) + key.point + ours.publicKey.point
        let material = try HKDFSHA256.derive(
            try ours.sharedSecret(with: key), salt: secret, info: info, byteCount: 32)
        func expand(_ name: String, _ byteCount: Int) throws -> [UInt8] {
            try HKDFSHA256.derive(
                material, salt: salt, info: Array("Content-Encoding: \(name)\0".utf8), byteCount: byteCount)
        }
        return (
            try expand("aes128gcm", AES128GCM.keyByteCount), try expand("nonce", AES128GCM.nonceByteCount)
        )
    }
}
