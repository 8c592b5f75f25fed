// A slow hash of passwords: scrypt (RFC 7914).
import COpenSSL

package enum Scrypt {
    /// Blocks; allocates 128 · 2^`logN` · `r` bytes and frees them.
    package static func key(
        _ password: [UInt8], salt: [UInt8], logN: Int, r: Int, p: Int, byteCount: Int
    ) throws(CryptographyError) -> [UInt8] {
        var key = [UInt8](repeating: 0, count: byteCount)
        let memoryByteCountMax = UInt64((128 * r) << logN) * 2 + (1 << 20)
        let made = password.withUnsafeBytes { password in
            EVP_PBE_scrypt(
                password.baseAddress?.assumingMemoryBound(to: CChar.self), password.count,
                salt, salt.count, 1 << UInt64(logN), UInt64(r), UInt64(p), memoryByteCountMax, &key, byteCount)
        }
        guard made == 1 else { throw .taken() }
        return key
    }
}
