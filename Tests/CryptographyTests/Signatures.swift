// Signatures by the examples of RFC 7515, RFC 8037 and RFC 8032, and what is no signature.
import Basics
import Cryptography
import Testing

@Suite("Signatures", .timeLimit(.minutes(1)))
struct Signatures {
    /// The payload of RFC 7515, A.1 to A.3.
    private static let payload =
        ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    private func expectOnly(
        _ signature: [UInt8], of text: [UInt8], _ isValid: ([UInt8], [UInt8]) -> Bool,
        _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(isValid(signature, text), sourceLocation: location)
        for other in signature.damaged + [[], [0], Array(signature.dropLast()), signature + [0], [0] + signature] {
            #expect(!isValid(other, text), sourceLocation: location)
        }
        #expect(!isValid(signature, text + [0]) && !isValid(signature, []), sourceLocation: location)
        #expect(!isValid(.init(repeating: 0, count: signature.count), text), sourceLocation: location)
    }

    @Test("HS256 verifies RFC 7515, A.1")
    func hs256() throws {
        let key = HMACSHA256(
            key: try bytes(
                base64: "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"))
        expectOnly(
            try bytes(base64: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
            of: Array("eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9\(Self.payload)".utf8), key.isValid)
    }

    @Test("RS256 verifies RFC 7515, A.2, and signs the same")
    func rs256() throws {
        let key = try #require(RSA.PublicKey(modulus: TestKeys.modulus, exponent: [1, 0, 1]))
        #expect(key.modulus == TestKeys.modulus && key.exponent == [1, 0, 1])
        let signature = try bytes(
            base64:
                "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9"
                + "uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN"
                + "9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIh"
                + "WkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw")
        let text = Array("eyJhbGciOiJSUzI1NiJ9\(Self.payload)".utf8)
        expectOnly(signature, of: text, key.isValid)
        for pem in [TestKeys.rsa2048, TestKeys.rsa2048Older] {
            let privateKey = try #require(RSA.PrivateKey(pem: pem))
            #expect(privateKey.publicKey.modulus == key.modulus && privateKey.publicKey.exponent == key.exponent)
            #expect(try privateKey.signature(of: text) == signature)
        }
        let padded = try #require(RSA.PublicKey(modulus: [0] + TestKeys.modulus, exponent: [0, 1, 0, 1]))
        #expect(padded.modulus == key.modulus && padded.exponent == key.exponent)
        #expect(padded.isValid(signature, of: text))
    }

    @Test("ES256 verifies RFC 7515, A.3")
    func es256() throws {
        let (x, y) = try (
            bytes(base64: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"),
            bytes(base64: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
        )
        let key = try #require(P256.PublicKey(point: [4] + x + y))
        let signature = try bytes(
            base64: "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")
        let text = Array("eyJhbGciOiJFUzI1NiJ9\(Self.payload)".utf8)
        expectOnly(signature, of: text, key.isValid)
        // libcrypto's own form, r of 0, s of 0, and s above the order.
        let (r, s) = (Array(signature[..<32]), Array(signature[32...]))
        let zero = [UInt8](repeating: 0, count: 32)
        let der = [0x30, 0x45, 0x02, 0x20] + r + [0x02, 0x21, 0x00] + s
        for other in [der, zero + s, r + zero, r + [UInt8](repeating: 0xff, count: 32)] {
            #expect(!key.isValid(other, of: text))
        }
    }

    @Test("ES256 signs in 64 bytes, whatever the size of r and s")
    func es256Signing() throws {
        let key = P256.PrivateKey.make()
        let text = Array("text".utf8)
        // One of 128 signatures has an r or s with a leading zero byte.
        for _ in 0..<600 {
            let signature = try key.signature(of: text)
            #expect(signature.count == 64 && key.publicKey.isValid(signature, of: text))
        }
        expectOnly(try key.signature(of: text), of: text, key.publicKey.isValid)
        #expect(!P256.PrivateKey.make().publicKey.isValid(try key.signature(of: text), of: text))
    }

    @Test("EdDSA verifies RFC 8037, A.4")
    func edDSA() throws {
        let key = try #require(Ed25519.PublicKey(bytes: bytes(base64: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")))
        expectOnly(
            try bytes(
                base64: "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"),
            of: Array("eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc".utf8), key.isValid)
    }

    /// RFC 8032, 7.1: tests 1 to 3.
    @Test(
        "Ed25519 signs as RFC 8032 does",
        arguments: [
            (
                "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
                    + "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
            ),
            (
                "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                    + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
            ),
            (
                "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
                "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
                "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
                    + "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
            ),
        ])
    func ed25519(_ seed: String, _ publicBytes: String, _ text: String, _ signature: String) throws {
        let key = try #require(Ed25519.PrivateKey(seed: bytes(hex: seed)))
        #expect(key.seed.hexadecimal == seed)
        #expect(key.publicKey.bytes.hexadecimal == publicBytes)
        #expect(try key.signature(of: bytes(hex: text)).hexadecimal == signature)
        #expect(key.publicKey.isValid(bytes(hex: signature), of: bytes(hex: text)))
    }

    @Test("Ed25519 refuses keys of other sizes, and a signature whose number is not reduced")
    func ed25519Refuses() throws {
        for count in [0, 31, 33, 64] {
            #expect(Ed25519.PrivateKey(seed: .init(repeating: 1, count: count)) == nil)
            #expect(Ed25519.PublicKey(bytes: .init(repeating: 1, count: count)) == nil)
        }
        // RFC 8032, 5.1.7: s of test 2 plus the order of the base point is congruent, and must be refused.
        let key = try #require(
            Ed25519.PublicKey(bytes: bytes(hex: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")))
        let r = "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        let s = bytes(hex: "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00")
        let order = bytes(hex: "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
        var (unreduced, carry): ([UInt8], Int) = ([], 0)
        for (first, second) in zip(s, order) {
            let sum = Int(first) + Int(second) + carry
            unreduced.append(UInt8(sum & 0xff))
            carry = sum >> 8
        }
        #expect(key.isValid(bytes(hex: r) + s, of: [0x72]))
        #expect(!key.isValid(bytes(hex: r) + unreduced, of: [0x72]))
        // No point has this y coordinate.
        #expect(
            Ed25519.PublicKey(bytes: [2] + .init(repeating: 0, count: 31))?.isValid(bytes(hex: r) + s, of: []) != true)
    }

    @Test("RSA refuses private keys of other types and sizes, and those that are encrypted or damaged")
    func rsaPrivateKeys() throws {
        for text in TestKeys.refused + ["", "key", try P256.PrivateKey.make().pem()] {
            #expect(RSA.PrivateKey(pem: text) == nil)
        }
        #expect(RSA.PrivateKey(pem: TestKeys.rsa2048) != nil && TestKeys.rsa2048Damaged != TestKeys.rsa2048)
        #expect(RSA.PrivateKey(pem: TestKeys.rsa2048Damaged) == nil)
    }

    @Test("RSA refuses a modulus of another size or that is even, and exponents that are even, 1 or large")
    func rsaPublicKeys() {
        let modulus = TestKeys.modulus
        func key(_ modulus: [UInt8], _ exponent: [UInt8] = [1, 0, 1]) -> RSA.PublicKey? {
            RSA.PublicKey(modulus: modulus, exponent: exponent)
        }
        #expect(key(modulus, [3]) != nil && key(modulus, [1, 0, 0, 0, 1]) != nil)
        for exponent in [[], [0], [1], [2], [1, 0, 0], [3, 0, 0, 0, 1], [1, 0, 0, 0, 0, 1], modulus] {
            #expect(key(modulus, exponent) == nil)
        }
        func number(bitCount: Int) -> [UInt8] {
            [UInt8(1 << ((bitCount - 1) % 8))] + .init(repeating: 0xff, count: (bitCount - 1) / 8)
        }
        #expect(key(number(bitCount: 2_048)) != nil && key(number(bitCount: 8_192)) != nil)
        for bitCount in [8, 512, 1_024, 2_040, 2_047, 8_193, 16_384] { #expect(key(number(bitCount: bitCount)) == nil) }
        for other in [[], [0], modulus.dropLast() + [modulus[255] & 0xfe]] as [[UInt8]] { #expect(key(other) == nil) }
    }
}
