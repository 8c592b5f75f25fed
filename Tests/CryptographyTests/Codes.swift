// HMAC, HKDF and scrypt by their published vectors, and the comparison in constant time.
import Basics
import Cryptography
import Testing

@Suite("HMAC-SHA256", .timeLimit(.minutes(1)))
struct HMACCodes {
    struct Vector: Sendable {
        let key: [UInt8]
        let text: [UInt8]
        let code: String
    }

    /// RFC 4231, 4.2–4.4, 4.5, 4.7 and 4.8, and an empty key.
    static let vectors = [
        Vector(
            key: .init(repeating: 0x0b, count: 20), text: Array("Hi There".utf8),
            code: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        Vector(
            key: Array("Jefe".utf8), text: Array("what do ya want for nothing?".utf8),
            code: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        Vector(
            key: .init(repeating: 0xaa, count: 20), text: .init(repeating: 0xdd, count: 50),
            code: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
        Vector(
            key: .init(1...25), text: .init(repeating: 0xcd, count: 50),
            code: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
        Vector(
            key: .init(repeating: 0xaa, count: 131),
            text: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            code: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
        Vector(
            key: .init(repeating: 0xaa, count: 131),
            text: Array(
                ("This is a test using a larger than block-size key and a larger than block-size data. "
                    + "The key needs to be hashed before being used by the HMAC algorithm.").utf8),
            code: "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
        Vector(key: [], text: [], code: "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
    ]

    @Test("returns the codes of RFC 4231, each time", arguments: vectors)
    func vector(_ vector: Vector) {
        let key = HMACSHA256(key: vector.key)
        for _ in 0..<3 { #expect(key.code(of: vector.text).hexadecimal == vector.code) }
        #expect(key.isValid(bytes(hex: vector.code), of: vector.text))
    }

    @Test("accepts no other code")
    func refuses() {
        let key = HMACSHA256(key: Array("Jefe".utf8))
        let code = key.code(of: [1])
        for other in code.damaged + [[], Array(code.dropLast()), code + [0], key.code(of: [2])] {
            #expect(!key.isValid(other, of: [1]))
        }
        #expect(!HMACSHA256(key: Array("Jeff".utf8)).isValid(code, of: [1]))
    }

    @Test("is computed with one key on several threads at once")
    func threads() async {
        let key = HMACSHA256(key: Array("Jefe".utf8))
        let codes = await withTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<64 { group.addTask { key.code(of: Array("what do ya want for nothing?".utf8)) } }
            return await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(codes.map(\.hexadecimal) == [Self.vectors[1].code])
    }
}

@Suite("Comparison in constant time", .timeLimit(.minutes(1)))
struct Comparison {
    @Test("finds equal what has the same bytes")
    func equal() {
        #expect(ConstantTime.areEqual([], []))
        #expect(ConstantTime.areEqual([1, 2], [1, 2]))
        for other in [[], [1], [1, 3], [0, 2], [1, 2, 0]] as [[UInt8]] {
            #expect(!ConstantTime.areEqual([1, 2], other))
        }
    }
}

@Suite("HKDF-SHA256", .timeLimit(.minutes(1)))
struct KeyDerivation {
    @Test("returns the keys of RFC 5869, appendix A")
    func vectors() throws {
        let first = try HKDFSHA256.derive(
            .init(repeating: 0x0b, count: 22), salt: .init(0...12), info: .init(0xf0...0xf9), byteCount: 42)
        #expect(
            first.hexadecimal
                == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
        let second = try HKDFSHA256.derive(
            .init(0...0x4f), salt: .init(0x60...0xaf), info: .init(0xb0...0xff), byteCount: 82)
        #expect(
            second.hexadecimal
                == "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09"
                + "da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87")
        let third = try HKDFSHA256.derive(.init(repeating: 0x0b, count: 22), salt: [], info: [], byteCount: 42)
        #expect(
            third.hexadecimal
                == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8")
    }

    @Test("refuses more bytes than the algorithm has")
    func refuses() throws {
        #expect(try HKDFSHA256.derive([1], salt: [], info: [], byteCount: 255 * 32).count == 255 * 32)
        let error = try #require(throws: CryptographyError.self) {
            try HKDFSHA256.derive([1], salt: [], info: [], byteCount: 255 * 32 + 1)
        }
        #expect("\(error)" == "libcrypto names no reason")
    }
}

@Suite("scrypt", .timeLimit(.minutes(1)))
struct SlowHashes {
    /// RFC 7914, 12. CredentialsTests has the other vectors.
    @Test("returns the key of RFC 7914's first example")
    func vector() throws {
        let key = try Scrypt.key([], salt: [], logN: 4, r: 1, p: 1, byteCount: 64)
        #expect(
            key.hexadecimal
                == "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
                + "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906")
    }

    @Test("reports libcrypto's reason")
    func refuses() throws {
        let error = try #require(throws: CryptographyError.self) {
            try Scrypt.key([1], salt: [1], logN: 1, r: 1, p: 1 << 30, byteCount: 32)
        }
        #expect(error.code != 0)
        #expect("\(error)".hasPrefix("error:") && "\(error)".hasSuffix(":memory limit exceeded"))
    }
}
