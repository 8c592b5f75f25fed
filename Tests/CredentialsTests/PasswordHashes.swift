// scrypt by its published vectors, and the line in which a hash is stored.

import Basics
import Testing

@testable import Credentials

@Suite("A password's hash", .timeLimit(.minutes(1)))
struct PasswordHashes {
    struct Vector: Sendable {
        let password: String
        let salt: String
        let cost: ScryptCost
        let key: String
    }

    /// RFC 7914, section 12 (the fourth needs a gigabyte).
    static let vectors = [
        Vector(
            password: "", salt: "", cost: ScryptCost(logN: 4, r: 1, p: 1),
            key: """
                77 d6 57 62 38 65 7b 20 3b 19 ca 42 c1 8a 04 97 f1 6b 48 44 e3 07 4a e8 df df fa 3f ed e2 14 42
                fc d0 06 9d ed 09 48 f8 32 6a 75 3a 0f c8 1f 17 e8 d3 e0 fb 2e 0d 36 28 cf 35 e2 0c 38 d1 89 06
                """),
        Vector(
            password: "password", salt: "NaCl", cost: ScryptCost(logN: 10, r: 8, p: 16),
            key: """
                fd ba be 1c 9d 34 72 00 78 56 e7 19 0d 01 e9 fe 7c 6a d7 cb c8 23 78 30 e7 73 76 63 4b 37 31 62
                2e af 30 d9 2e 22 a3 88 6f f1 09 27 9d 98 30 da c7 27 af b9 4a 83 ee 6d 83 60 cb df a2 cc 06 40
                """),
        Vector(
            password: "pleaseletmein", salt: "SodiumChloride", cost: ScryptCost(logN: 14, r: 8, p: 1),
            key: """
                70 23 bd cb 3a fd 73 48 46 1c 06 cd 81 fd 38 eb fd a8 fb ba 90 4f 8e 3e a9 b5 43 f6 54 5d a1 f2
                d5 43 29 55 61 3f 0f cf 62 d4 97 05 24 2a 9a f9 e6 1e 85 dc 0d 65 1e 40 df cf 01 7b 45 57 58 87
                """),
    ]

    @Test("is scrypt's, by the vectors of RFC 7914", arguments: vectors)
    func vector(_ vector: Vector) throws {
        let key = try PasswordHash.scrypt(
            Array(vector.password.utf8), salt: Array(vector.salt.utf8), cost: vector.cost, byteCount: 64)
        #expect(key.hexadecimal == vector.key.filter { !$0.isWhitespace })
    }

    @Test("is stored as one line, and read back with its cost")
    func roundTrip() throws {
        let hash = PasswordHash(cost: ScryptCost(logN: 14, r: 8, p: 1), salt: .init(1...16), key: .init(1...32))
        let line = "$scrypt$ln=14,r=8,p=1$AQIDBAUGBwgJCgsMDQ4PEA$AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA"
        #expect(hash.text == line)
        #expect(try PasswordHash(parsing: line) == hash)
    }

    @Test("is compatible with passlib's")
    func passlib() throws {
        // From passlib's documentation of its scrypt handler.
        let line = "$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E"
        #expect(try PasswordHash(parsing: line).matches("password"))
        #expect(try !PasswordHash(parsing: line).matches("Password"))
    }

    @Test(
        "is refused when it is malformed or asks for too much",
        arguments: [
            "", "$", "password", "$scrypt$ln=14,r=8,p=1$AQIDBAUGBwgJCgsMDQ4PEA",
            "$bcrypt$ln=14,r=8,p=1$AQIDBAUGBwgJCgsMDQ4PEA$AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA",
            "$scrypt$ln=14,p=1,r=8$AQIDBAUGBwgJCgsMDQ4PEA$AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA",
            "$scrypt$ln=0,r=8,p=1$AQIDBAUGBwgJCgsMDQ4PEA$AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA",
            "$scrypt$ln=20,r=8,p=1$AQIDBAUGBwgJCgsMDQ4PEA$AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA",
            "$scrypt$ln=14,r=8,p=99$AQIDBAUGBwgJCgsMDQ4PEA$AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA",
            "$scrypt$ln=9999999999999999999,r=8,p=1$AQIDBAUGBwgJCgsMDQ4PEA$AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA",
            "$scrypt$ln=14,r=8,p=1$AQIDBAUGBwgJCgsMDQ4PEA==$AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA",
            "$scrypt$ln=14,r=8,p=1$AQIDBAUGBwgJCgsMDQ4PEA$AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA$",
        ])
    func malformed(line: String) {
        #expect(throws: CredentialsError.malformedHash) { try PasswordHash(parsing: line) }
    }
}

@Suite("A password as typed", .timeLimit(.minutes(1)))
struct TypedPasswords {
    @Test(
        "is the same however it was composed or spaced",
        arguments: [
            ("caf\u{e9}", "cafe\u{301}"), ("\u{1112}\u{1161}\u{11ab}", "\u{d55c}"), ("a\u{a0}b", "a b"),
            ("a\u{3000}b", "a b"), ("\u{212b}", "\u{c5}"),
        ])
    func same(one: String, other: String) {
        let first = NormalisedPassword(one).text
        #expect(Array(first.utf8) == Array(NormalisedPassword(other).text.utf8))
    }

    @Test(
        "keeps case, width and everything else",
        arguments: [
            ("A", "a"), ("\u{ff21}", "A"), ("a ", "a"), ("ß", "ss"), ("😀", "😃"),
        ])
    func different(one: String, other: String) {
        #expect(NormalisedPassword(one).text != NormalisedPassword(other).text)
    }
}
