// An asymmetric key of any type, and signatures with it. The types for callers are P256, Ed25519 and RSA.
import COpenSSL

/// Owns an EVP_PKEY, and frees it once.
// SAFETY: libcrypto allows all threads to use a key at once as long as none changes it. Nothing does after `init`.
final class Key: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Returns nil if the pointer is nil, which is how OpenSSL reports an error.
    init?(owning pointer: OpaquePointer?) {
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    deinit { EVP_PKEY_free(pointer) }

    /// Returns a public key made of its parameters; nil if they do not make one.
    static func publicKey(_ algorithm: String, _ parameters: [Parameter]) -> Key? {
        defer { ERR_clear_error() }
        let context = EVP_PKEY_CTX_new_from_name(nil, algorithm, nil)
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_fromdata_init(context) == 1 else { return nil }
        var key: OpaquePointer?
        // Swift does not see the macro EVP_PKEY_PUBLIC_KEY.
        let selection = OSSL_KEYMGMT_SELECT_DOMAIN_PARAMETERS | OSSL_KEYMGMT_SELECT_PUBLIC_KEY
        _ = Parameter.withAll(parameters) { EVP_PKEY_fromdata(context, &key, selection, $0) }
        return Key(owning: key)
    }

    /// Whether libcrypto finds a private key valid, and its public half fitting.
    var isValidPair: Bool {
        defer { ERR_clear_error() }
        let context = EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil)
        defer { EVP_PKEY_CTX_free(context) }
        return EVP_PKEY_check(context) == 1
    }

    /// Returns a number of the key in big-endian bytes, without leading zeros unless `byteCount` asks for them.
    func number(_ name: String, byteCount: Int? = nil) throws(CryptographyError) -> [UInt8] {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(pointer, name, &number) == 1 else { throw .taken() }
        defer { BN_clear_free(number) }
        let byteCount = byteCount ?? Int(BN_num_bits(number) + 7) / 8
        var bytes = [UInt8](repeating: 0, count: byteCount)
        guard BN_bn2binpad(number, &bytes, Int32(byteCount)) == Int32(byteCount) else { throw .taken() }
        return bytes
    }

    // MARK: Signatures

    /// Returns the signature in libcrypto's form.
    ///
    /// - Parameter digest: nil for Ed25519, which has its own.
    func signature(of bytes: [UInt8], digest: OpaquePointer?) throws(CryptographyError) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { throw .taken() }
        defer { EVP_MD_CTX_free(context) }
        var byteCount = Int(EVP_PKEY_get_size(pointer))
        var signature = [UInt8](repeating: 0, count: byteCount)
        guard EVP_DigestSignInit(context, nil, digest, nil, pointer) == 1,
            EVP_DigestSign(context, &signature, &byteCount, bytes, bytes.count) == 1
        else { throw .taken() }
        signature.removeLast(signature.count - byteCount)
        return signature
    }

    /// Whether the key's private half made the signature. False, too, for bytes that are no signature.
    func isValid(_ signature: [UInt8], of bytes: [UInt8], digest: OpaquePointer?) -> Bool {
        defer { ERR_clear_error() }
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        return EVP_DigestVerifyInit(context, nil, digest, nil, pointer) == 1
            && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
    }
}

// MARK: PEM

extension Key {
    /// Reads a private key: PKCS#8, or the older form of its type. Nil for anything else, and for an encrypted key.
    static func privateKey(pem: String) -> Key? {
        defer { ERR_clear_error() }
        var pem = pem
        return pem.withUTF8 { text in
            guard let count = Int32(exactly: text.count), let source = BIO_new_mem_buf(text.baseAddress, count) else {
                return nil
            }
            defer { BIO_free(source) }
            // Without a function of its own, libcrypto asks the terminal for the password of an encrypted key.
            return Key(owning: PEM_read_bio_PrivateKey(source, nil, { _, _, _, _ in -1 }, nil))
        }
    }

    /// The private key in PKCS#8, not encrypted.
    func pem() throws(CryptographyError) -> String {
        guard let target = BIO_new(BIO_s_mem()) else { throw .taken() }
        defer { BIO_free(target) }
        guard PEM_write_bio_PKCS8PrivateKey(target, pointer, nil, nil, 0, nil, nil) == 1 else { throw .taken() }
        var text = [UInt8](repeating: 0, count: BIO_ctrl_pending(target))
        guard BIO_read(target, &text, Int32(text.count)) == Int32(text.count) else { throw .taken() }
        return String(decoding: text, as: UTF8.self)
    }
}
