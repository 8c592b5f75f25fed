// Signatures of 64 bytes that are the same for the same bytes: Ed25519 (RFC 8032).
import COpenSSL

package enum Ed25519 {
    package static let seedByteCount = 32
    package static let publicByteCount = 32
    package static let signatureByteCount = 64
}

extension Ed25519 {
    package struct PrivateKey: Sendable {
        /// The private half, as RFC 8032 calls it a seed.
        package let seed: [UInt8]
        package let publicKey: PublicKey
        private let key: Key

        /// Nil unless there are 32 bytes.
        package init?(seed: [UInt8]) {
            defer { ERR_clear_error() }
            guard seed.count == seedByteCount,
                let key = Key(owning: EVP_PKEY_new_raw_private_key_ex(nil, "ED25519", nil, seed, seed.count))
            else { return nil }
            var bytes = [UInt8](repeating: 0, count: publicByteCount)
            var count = bytes.count
            guard EVP_PKEY_get_raw_public_key(key.pointer, &bytes, &count) == 1, count == bytes.count,
                let publicKey = PublicKey(bytes: bytes)
            else { return nil }
            (self.seed, self.publicKey, self.key) = (seed, publicKey, key)
        }

        /// Returns a new key. Ends the process if the system has no randomness or no memory for it.
        package static func make() -> PrivateKey {
            guard let key = PrivateKey(seed: RandomBytes.make(count: seedByteCount)) else {
                preconditionFailure("libcrypto makes no Ed25519 key")
            }
            return key
        }

        /// Returns the 64 bytes of a signature.
        package func signature(of bytes: [UInt8]) throws(CryptographyError) -> [UInt8] {
            try key.signature(of: bytes, digest: nil)
        }
    }

    package struct PublicKey: Sendable {
        package let bytes: [UInt8]
        private let key: Key

        /// Nil unless there are 32 bytes. Bytes that are no point make a key that accepts no signature.
        package init?(bytes: [UInt8]) {
            defer { ERR_clear_error() }
            guard bytes.count == publicByteCount,
                let key = Key(owning: EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, bytes, bytes.count))
            else { return nil }
            (self.bytes, self.key) = (bytes, key)
        }

        /// Whether it is the signature of these bytes.
        package func isValid(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
            signature.count == signatureByteCount && key.isValid(signature, of: bytes, digest: nil)
        }
    }
}
