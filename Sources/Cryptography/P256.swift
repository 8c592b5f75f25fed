// Keys on the curve P-256 (FIPS 186-4; secp256r1, prime256v1). P256+use.swift has what they are used for.
import COpenSSL

package enum P256 {
    package static let scalarByteCount = 32
    /// The bytes of an uncompressed point: 4, then both coordinates (X9.63).
    package static let pointByteCount = 65

    static let uncompressed: UInt8 = 4

    /// The curve alone, made once: looking it up for each key costs three times as much as reading a point.
    fileprivate static let curve: Key = {
        let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
        defer { EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        let isMade =
            EVP_PKEY_paramgen_init(context) == 1 && EVP_PKEY_CTX_set_group_name(context, "prime256v1") == 1
            && EVP_PKEY_paramgen(context, &made) == 1
        guard isMade, let curve = Key(owning: made) else { preconditionFailure("libcrypto has no P-256, or no memory") }
        return curve
    }()
}

extension P256 {
    /// A point on the curve.
    package struct PublicKey: Sendable {
        /// The uncompressed point: 65 bytes.
        package let point: [UInt8]
        let key: Key

        /// Nil unless the bytes are an uncompressed point on the curve. Costs 6 µs.
        package init?(point: [UInt8]) {
            // libcrypto also knows the compressed and hybrid forms, and the point at infinity. It refuses coordinates that
            // are too large or not on the curve. The curve's cofactor is 1, so no further check is needed.
            guard point.count == pointByteCount, point.first == uncompressed,
                let key = Key(onP256: point)
            else { return nil }
            self.init(point: point, key: key)
        }

        /// - Parameter key: may have a private half, too.
        fileprivate init(point: [UInt8], key: Key) { (self.point, self.key) = (point, key) }
    }

    package struct PrivateKey: Sendable {
        package let publicKey: PublicKey
        let key: Key

        /// Nil unless the key is on this curve, and its halves fit.
        private init?(_ key: Key?) {
            guard let key, key.isValidPair, key.isOnP256 else { return nil }
            self.init(checked: key)
        }

        private init?(checked key: Key) {
            guard let point = key.point else { return nil }
            (self.key, publicKey) = (key, PublicKey(point: point, key: key))
        }

        /// Returns a new key in 22 µs. Ends the process if the system has no randomness or no memory for it.
        package static func make() -> PrivateKey {
            let context = EVP_PKEY_CTX_new_from_pkey(nil, curve.pointer, nil)
            defer { EVP_PKEY_CTX_free(context) }
            var made: OpaquePointer?
            let isMade = EVP_PKEY_keygen_init(context) == 1 && EVP_PKEY_generate(context, &made) == 1
            guard isMade, let key = Key(owning: made), let privateKey = PrivateKey(checked: key) else {
                preconditionFailure("libcrypto makes no key on P-256: \(CryptographyError.taken())")
            }
            return privateKey
        }

        /// Nil unless the bytes are a number from 1 to the order of the curve less 1, 32 bytes, big-endian.
        /// Costs 0.25 ms.
        package init?(scalar: [UInt8]) {
            guard scalar.count == scalarByteCount else { return nil }
            // An ECPrivateKey of RFC 5915 without its public half, which libcrypto computes from the scalar.
            let head: [UInt8] = [0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20]
            let curve: [UInt8] = [0xa0, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]
            let der = head + scalar + curve
            self.init(
                der.withUnsafeBufferPointer { der in
                    defer { ERR_clear_error() }
                    var start = der.baseAddress
                    return Key(owning: d2i_PrivateKey(EVP_PKEY_EC, nil, &start, der.count))
                })
        }

        /// Reads PKCS#8 or RFC 5915 in PEM, not encrypted. Nil for anything else.
        package init?(pem: String) { self.init(Key.privateKey(pem: pem)) }

        /// The private half: 32 bytes.
        package var scalar: [UInt8] {
            guard let number = try? key.number("priv", byteCount: scalarByteCount) else {
                preconditionFailure("libcrypto does not return a private key, or has no memory")
            }
            return number
        }

        /// PKCS#8 in PEM, not encrypted.
        package func pem() throws(CryptographyError) -> String { try key.pem() }
    }
}

extension Key {
    /// Returns nil for bytes that libcrypto does not accept as a point on the curve.
    fileprivate convenience init?(onP256 point: [UInt8]) {
        defer { ERR_clear_error() }
        self.init(owning: EVP_PKEY_new())
        guard EVP_PKEY_copy_parameters(pointer, P256.curve.pointer) == 1,
            EVP_PKEY_set1_encoded_public_key(pointer, point, point.count) == 1
        else { return nil }
    }

    fileprivate var isOnP256: Bool {
        defer { ERR_clear_error() }
        var name = [CChar](repeating: 0, count: 32)
        var count = 0
        return EVP_PKEY_is_a(pointer, "EC") == 1
            && EVP_PKEY_get_group_name(pointer, &name, name.count, &count) == 1
            && name.prefix(count).map { UInt8(bitPattern: $0) } == Array("prime256v1".utf8)
    }

    /// The uncompressed point of the public half.
    fileprivate var point: [UInt8]? {
        defer { ERR_clear_error() }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = EVP_PKEY_get1_encoded_public_key(pointer, &bytes)
        defer { CRYPTO_free(bytes, #file, #line) }
        guard let bytes, count == P256.pointByteCount else { return nil }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }
}
