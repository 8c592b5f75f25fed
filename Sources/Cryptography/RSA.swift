// RSA signatures with PKCS #1 v1.5 and SHA-256 (RFC 8017, 8.2): RS256 of JSON Web Tokens.
import COpenSSL

package enum RSA {
    /// Shorter keys can be broken (RFC 7518, 3.3), longer ones let a key's owner occupy a processor.
    package static let modulusBitCounts = 2_048...8_192
    /// As in other libraries. Large exponents have no use and cost time.
    static let exponentBitCounts = 2...33
}

extension RSA {
    package struct PublicKey: Sendable {
        /// Big-endian, without leading zeros.
        package let modulus: [UInt8]
        package let exponent: [UInt8]
        private let key: Key

        /// Nil unless both numbers, big-endian, are odd and have a size that is allowed.
        package init?(modulus: [UInt8], exponent: [UInt8]) {
            let (modulus, exponent) = (Array(modulus.drop { $0 == 0 }), Array(exponent.drop { $0 == 0 }))
            guard let n = Number(modulus), let e = Number(exponent), n.isOdd, e.isOdd,
                modulusBitCounts.contains(n.bitCount), exponentBitCounts.contains(e.bitCount),
                let key = Key.publicKey("RSA", [.number("n", native: n.native), .number("e", native: e.native)])
            else { return nil }
            (self.modulus, self.exponent, self.key) = (modulus, exponent, key)
        }

        /// Whether it is the signature of these bytes. Costs 30 µs with 2,048 bits.
        package func isValid(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
            key.isValid(signature, of: bytes, digest: SHA256.algorithm)
        }
    }

    package struct PrivateKey: Sendable {
        package let publicKey: PublicKey
        private let key: Key

        /// Reads PKCS#8 or PKCS#1 in PEM, not encrypted. Nil for anything else, for a key of another size, and for one
        /// whose numbers do not fit. Costs 50 ms, most of them for whether the factors are prime.
        package init?(pem: String) {
            guard let key = Key.privateKey(pem: pem), EVP_PKEY_is_a(key.pointer, "RSA") == 1,
                let modulus = try? key.number("n"), let exponent = try? key.number("e"),
                let publicKey = PublicKey(modulus: modulus, exponent: exponent), key.isValidPair
            else { return nil }
            (self.publicKey, self.key) = (publicKey, key)
        }

        /// Returns a signature, as long as the modulus. Costs 0.4 ms with 2,048 bits.
        package func signature(of bytes: [UInt8]) throws(CryptographyError) -> [UInt8] {
            try key.signature(of: bytes, digest: SHA256.algorithm)
        }
    }

    /// The facts about a number of a key.
    private struct Number {
        let bitCount: Int
        let isOdd: Bool
        /// The number in the byte order of the machine, as OpenSSL expects it.
        let native: [UInt8]

        /// Returns nil if there are no bytes, or too many.
        init?(_ bytes: [UInt8]) {
            guard !bytes.isEmpty, bytes.count <= modulusBitCounts.upperBound / 8,
                let number = BN_bin2bn(bytes, Int32(bytes.count), nil)
            else { return nil }
            defer { BN_free(number) }
            (bitCount, isOdd) = (Int(BN_num_bits(number)), BN_is_odd(number) == 1)
            var native = [UInt8](repeating: 0, count: bytes.count)
            guard BN_bn2nativepad(number, &native, Int32(native.count)) == Int32(native.count) else { return nil }
            self.native = native
        }
    }
}
