// Encryption with a proof of integrity: AES-128 in Galois/Counter Mode (NIST SP 800-38D).
import COpenSSL

package enum AES128GCM {
    package static let keyByteCount = 16
    package static let nonceByteCount = 12
    package static let tagByteCount = 16

    // SAFETY: an EVP_CIPHER is immutable and may be used from all threads; this one is never freed.
    nonisolated(unsafe) private static let algorithm = EVP_CIPHER_fetch(nil, "AES-128-GCM", nil)

    /// Returns the encrypted bytes and the tag behind them. The nonce must never be used twice with one key.
    package static func seal(
        _ plaintext: [UInt8], key: [UInt8], nonce: [UInt8]
    ) throws(CryptographyError) -> [UInt8] {
        // libcrypto reads as many bytes as the algorithm wants, whatever the arrays have.
        precondition(key.count == keyByteCount && nonce.count == nonceByteCount)
        guard let context = EVP_CIPHER_CTX_new() else { throw .taken() }
        defer { EVP_CIPHER_CTX_free(context) }
        var sealed = [UInt8](repeating: 0, count: plaintext.count + tagByteCount)
        let isSealed = sealed.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return false }
            var (count, restCount): (Int32, Int32) = (0, 0)
            return EVP_EncryptInit_ex2(context, algorithm, key, nonce, nil) == 1
                && EVP_EncryptUpdate(context, start, &count, plaintext, Int32(plaintext.count)) == 1
                && EVP_EncryptFinal_ex(context, start + Int(count), &restCount) == 1
                && Int(count + restCount) == plaintext.count
                && EVP_CIPHER_CTX_ctrl(
                    context, EVP_CTRL_AEAD_GET_TAG, Int32(tagByteCount), start + plaintext.count) == 1
        }
        guard isSealed else { throw .taken() }
        return sealed
    }

    /// Returns the bytes that `seal` was given. Nil if the tag does not match: another key, or other bytes.
    package static func open(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8]) throws(CryptographyError) -> [UInt8]? {
        precondition(key.count == keyByteCount && nonce.count == nonceByteCount)
        guard sealed.count >= tagByteCount else { return nil }
        guard let context = EVP_CIPHER_CTX_new() else { throw .taken() }
        defer { EVP_CIPHER_CTX_free(context) }
        let byteCount = sealed.count - tagByteCount
        var tag = Array(sealed[byteCount...])
        // One more, because an empty array has no address.
        var plaintext = [UInt8](repeating: 0, count: byteCount + 1)
        var (count, restCount): (Int32, Int32) = (0, 0)
        guard EVP_DecryptInit_ex2(context, algorithm, key, nonce, nil) == 1,
            EVP_DecryptUpdate(context, &plaintext, &count, sealed, Int32(byteCount)) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagByteCount), &tag) == 1
        else { throw .taken() }
        var rest: UInt8 = 0
        guard EVP_DecryptFinal_ex(context, &rest, &restCount) == 1 else {
            ERR_clear_error()
            return nil
        }
        plaintext.removeLast()
        return plaintext
    }
}
