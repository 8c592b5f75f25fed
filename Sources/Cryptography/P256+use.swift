// What keys on P-256 are used for: key agreement (ECDH, NIST SP 800-56A) and signatures (ES256, RFC 7518, 3.4).
import COpenSSL

extension P256.PrivateKey {
    /// Returns the shared secret: the x coordinate of the common point, 32 bytes. Not uniform: derive keys from it.
    /// Costs 65 µs.
    package func sharedSecret(with other: P256.PublicKey) throws(CryptographyError) -> [UInt8] {
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil) else { throw .taken() }
        defer { EVP_PKEY_CTX_free(context) }
        var secret = [UInt8](repeating: 0, count: P256.scalarByteCount)
        var count = secret.count
        // The other point was checked when it was read. libcrypto's check would multiply it once more.
        guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer_ex(context, other.key.pointer, 0) == 1,
            EVP_PKEY_derive(context, &secret, &count) == 1, count == secret.count
        else { throw .taken() }
        return secret
    }

    /// Returns an ES256 signature: r and s, 32 bytes each. Random: each call returns another one.
    /// Costs 30 µs.
    package func signature(of bytes: [UInt8]) throws(CryptographyError) -> [UInt8] {
        let der = try key.signature(of: bytes, digest: SHA256.algorithm)
        guard let signature = SignatureForm.raw(der: der) else { throw .taken() }
        return signature
    }
}

extension P256.PublicKey {
    /// Whether it is an ES256 signature of these bytes: exactly 64 bytes, r and s.
    package func isValid(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        guard let der = SignatureForm.der(raw: signature) else { return false }
        return key.isValid(der, of: bytes, digest: SHA256.algorithm)
    }
}

/// The two forms of an ECDSA signature: r and s in 32 bytes each, and the SEQUENCE of two INTEGERs of libcrypto.
private enum SignatureForm {
    private static let numberByteCount = 32
    /// Two INTEGERs with a byte for the sign, and the SEQUENCE.
    private static let derByteCountMax = 2 + 2 * (2 + 1 + numberByteCount)

    static func raw(der: [UInt8]) -> [UInt8]? {
        der.withUnsafeBufferPointer { der in
            var start = der.baseAddress
            guard let pair = d2i_ECDSA_SIG(nil, &start, der.count) else { return nil }
            defer { ECDSA_SIG_free(pair) }
            var raw = [UInt8](repeating: 0, count: 2 * numberByteCount)
            let isWritten = raw.withUnsafeMutableBufferPointer { raw in
                let count = Int32(numberByteCount)
                return BN_bn2binpad(ECDSA_SIG_get0_r(pair), raw.baseAddress, count) == count
                    && BN_bn2binpad(ECDSA_SIG_get0_s(pair), raw.baseAddress?.advanced(by: numberByteCount), count)
                        == count
            }
            return isWritten ? raw : nil
        }
    }

    static func der(raw: [UInt8]) -> [UInt8]? {
        guard raw.count == 2 * numberByteCount, let pair = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(pair) }
        let (r, s) = raw.withUnsafeBufferPointer { raw in
            (
                BN_bin2bn(raw.baseAddress, Int32(numberByteCount), nil),
                BN_bin2bn(raw.baseAddress?.advanced(by: numberByteCount), Int32(numberByteCount), nil)
            )
        }
        // The pair owns both numbers, unless one is missing.
        guard ECDSA_SIG_set0(pair, r, s) == 1 else {
            BN_free(r)
            BN_free(s)
            return nil
        }
        return [UInt8](unsafeUninitializedCapacity: derByteCountMax) { buffer, written in
            var start = buffer.baseAddress
            written = max(0, Int(i2d_ECDSA_SIG(pair, &start)))
        }
    }
}
