// Keys on P-256: their forms, and the shared secret of RFC 5903's example.
import Basics
import Cryptography
import Testing

@Suite("Keys on P-256", .timeLimit(.minutes(1)))
struct KeyAgreement {
    /// RFC 5903, 8.1.
    static let first = bytes(hex: "c88f01f510d9ac3f70a292daa2316de544e9aab8afe84049c62a9c57862d1433")
    static let second = bytes(hex: "c6ef9c5d78ae012a011164acb397ce2088685d8f06bf9be0b283ab46476bee53")
    static let firstPoint = bytes(
        hex: """
            04 dad0b65394221cf9b051e1feca5787d098dfe637fc90b9ef945d0c3772581180
            5271a0461cdb8252d61f1c456fa3e59ab1f45b33accf5f58389e0577b8990bb3
            """)
    static let secondPoint = bytes(
        hex: """
            04 d12dfb5289c8d4f81208b70270398c342296970a0bccb74c736fc7554494bf63
            56fbf3ca366cc23e8157854c13c58d6aac23f046ada30f8353e74f33039872ab
            """)
    /// The order of the curve, and the modulus of its coordinates.
    static let order = bytes(hex: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    static let prime = bytes(hex: "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")

    @Test("agree on the secret of RFC 5903's example, from both sides")
    func agrees() throws {
        let (first, second) = try (
            #require(P256.PrivateKey(scalar: Self.first)), #require(P256.PrivateKey(scalar: Self.second))
        )
        #expect(first.publicKey.point == Self.firstPoint && second.publicKey.point == Self.secondPoint)
        let secret = "d6840f6b42f6edafd13116e0e12565202fef8e9ece7dce03812464d04b9442de"
        #expect(try first.sharedSecret(with: second.publicKey).hexadecimal == secret)
        #expect(
            try second.sharedSecret(with: try #require(P256.PublicKey(point: Self.firstPoint))).hexadecimal == secret)
    }

    @Test("are read back from their scalar and from PEM")
    func roundTrip() throws {
        for key in (0..<20).map({ _ in P256.PrivateKey.make() }) + [try #require(P256.PrivateKey(scalar: Self.first))] {
            let scalar = key.scalar
            #expect(scalar.count == 32)
            #expect(P256.PrivateKey(scalar: scalar)?.publicKey.point == key.publicKey.point)
            let pem = try key.pem()
            #expect(pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
            for text in [pem, "\n\(pem)\n\n", pem.replacing("\n", with: "\r\n")] {
                let read = try #require(P256.PrivateKey(pem: text))
                #expect(read.scalar == scalar && read.publicKey.point == key.publicKey.point)
            }
        }
    }

    @Test("are never the same twice")
    func fresh() {
        #expect(Set((1...50).map { _ in P256.PrivateKey.make().scalar }).count == 50)
    }

    @Test("are read from openssl's own PEM, in both forms")
    func pem() throws {
        let key = try #require(
            P256.PrivateKey(
                pem: """
                    -----BEGIN PRIVATE KEY-----
                    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgyI8B9RDZrD9wopLa
                    ojFt5UTpqriv6EBJxiqcV4YtFDOhRANCAATa0LZTlCIc+bBR4f7KV4fQmN/mN/yQ
                    ue+UXQw3clgRgFJxoEYc24JS1h8cRW+j5Zqx9FszrM9fWDieBXe4mQuz
                    -----END PRIVATE KEY-----
                    """))
        #expect(key.scalar == Self.first && key.publicKey.point == Self.firstPoint)
        let older = try #require(
            P256.PrivateKey(
                pem: """
                    -----BEGIN EC PRIVATE KEY-----
                    MHcCAQEEIMiPAfUQ2aw/cKKS2qIxbeVE6aq4r+hAScYqnFeGLRQzoAoGCCqGSM49
                    AwEHoUQDQgAE2tC2U5QiHPmwUeH+yleH0Jjf5jf8kLnvlF0MN3JYEYBScaBGHNuC
                    UtYfHEVvo+WasfRbM6zPX1g4ngV3uJkLsw==
                    -----END EC PRIVATE KEY-----
                    """))
        #expect(older.scalar == Self.first)
    }

    @Test("are refused if they are of another curve or type, encrypted, damaged, or their halves do not fit")
    func refusesPEM() throws {
        for text in TestKeys.refused + ["", "key", TestKeys.rsa2048] { #expect(P256.PrivateKey(pem: text) == nil) }
        let lines = try P256.PrivateKey.make().pem().split(separator: "\n")
        #expect(P256.PrivateKey(pem: lines.dropLast().joined(separator: "\n")) == nil)
        #expect(P256.PrivateKey(pem: [lines[0], lines[1], lines[4]].joined(separator: "\n")) == nil)
    }

    @Test("are refused if the scalar is 0, the order or more, or of another size")
    func refusesScalars() throws {
        var last = Self.order
        last[31] -= 1
        #expect(P256.PrivateKey(scalar: last) != nil)
        #expect(P256.PrivateKey(scalar: .init(repeating: 0, count: 31) + [1]) != nil)
        for scalar in [
            [], .init(repeating: 0, count: 32), Self.order, .init(repeating: 0xff, count: 32),
            Array(Self.first.dropLast()), [0] + Self.first,
        ] {
            #expect(P256.PrivateKey(scalar: scalar) == nil)
        }
    }

    @Test("are refused if the point is not on the curve, or in another form")
    func refusesPoints() throws {
        let point = Self.firstPoint
        #expect(P256.PublicKey(point: point)?.point == point)
        let (x, y) = (point[1..<33], point[33...])
        let others: [[UInt8]] =
            [
                [], [0], Array(point.dropLast()), point + [0],
                // Compressed, hybrid, and infinity in 65 bytes.
                [2 | point[64] & 1] + x, [6 | point[64] & 1] + x + y, [6] + x + y, [7] + x + y, [0] + x + y,
                .init(repeating: 0, count: 65), [4] + [UInt8](repeating: 0, count: 64), .init(repeating: 4, count: 65),
                [4] + y + x,
                // Coordinates of the modulus and above.
                [4] + Self.prime + y, [4] + x + Self.prime, [4] + [UInt8](repeating: 0xff, count: 64),
            ] + point.damaged
        for other in others { #expect(P256.PublicKey(point: other) == nil) }
    }

    @Test("refuse a coordinate that is the modulus too large, although the point is on the curve")
    func refusesUnreducedPoints() throws {
        // The point (0, y) is on the curve: x = p is the same modulo p.
        let y = bytes(hex: "66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4")
        #expect(P256.PublicKey(point: [4] + [UInt8](repeating: 0, count: 32) + y) != nil)
        #expect(P256.PublicKey(point: [4] + Self.prime + y) == nil)
    }
}
