// Keys from a shared secret: HKDF (RFC 5869) with SHA-256, both of its steps.
import COpenSSL

package enum HKDFSHA256 {
    // SAFETY: an EVP_KDF is immutable and may be used from all threads; this one is never freed.
    nonisolated(unsafe) private static let algorithm = EVP_KDF_fetch(nil, "HKDF", nil)

    /// Returns `byteCount` bytes, at most 8,160.
    package static func derive(
        _ secret: [UInt8], salt: [UInt8], info: [UInt8], byteCount: Int
    ) throws(CryptographyError) -> [UInt8] {
        guard let context = EVP_KDF_CTX_new(algorithm) else { throw .taken() }
        defer { EVP_KDF_CTX_free(context) }
        var key = [UInt8](repeating: 0, count: byteCount)
        let isMade = Parameter.withAll([
            .text("digest", "SHA256"), .bytes("key", secret), .bytes("salt", salt), .bytes("info", info),
        ]) { EVP_KDF_derive(context, &key, byteCount, $0) }
        guard isMade == 1 else { throw .taken() }
        return key
    }
}
