// SHA-1 (FIPS 180-4), only because name-based UUIDs of version 5 are defined with it (RFC 9562, 5.5).
import COpenSSL

/// Names things and protects nothing: different bytes with the same digest can be made.
package enum SHA1 {
    package static let byteCount = 20

    // SAFETY: an EVP_MD is immutable and may be used from all threads; this one is never freed.
    nonisolated(unsafe) private static let algorithm = EVP_MD_fetch(nil, "SHA1", nil)

    /// The 20 bytes of the digest.
    package static func digest(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, written in
            let made = EVP_Digest(bytes, bytes.count, buffer.baseAddress, nil, algorithm, nil)
            precondition(made == 1, "libcrypto has no SHA-1")
            written = byteCount
        }
    }
}
