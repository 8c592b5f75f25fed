// The key of exports, and the signed last line.
import Basics
import Cryptography
import Testing

@testable import Credentials

@Suite("Signing exports", .timeLimit(.minutes(1)))
struct SigningExports {
    @Test("the key of RFC 8032's second test has its public half and signature")
    func vector() throws {
        let seed = try bytes("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
        let key = try #require(ExportKey(seed: seed))
        #expect(key.publicBytes.hexadecimal == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
        let signature = try key.signature(of: [0x72])
        #expect(signature.hexadecimal.hasPrefix("92a009a9f0d4cab8720e820b5f642540"))
        #expect(ExportKey(seed: Array(seed.dropLast())) == nil)
        #expect(ExportKey(seed: key.seed)?.id == key.id && ExportKey.make().id != key.id)
    }

    @Test("the last line signs its own bytes: the counts, the time, the key and the digest of all before")
    func lastLine() throws {
        let key = ExportKey.make()
        let line = String(
            decoding: try key.lastLine(
                counts: ["contents": 2, "bytes": 8], sha256: "f00d", at: "2026-11-24T10:00:00.000Z"), as: UTF8.self)
        let parts = line.split(separator: ",\"signature\":\"")
        try #require(parts.count == 2)
        #expect(
            parts[0]
                == """
                {"type":"end","contents":2,"bytes":8,"signed_at":"2026-11-24T10:00:00.000Z","key_id":"\(key.id)",\
                "sha256":"f00d"
                """)
        #expect(parts[1] == "\(try key.signature(of: Array(parts[0].utf8)).base64)\"}\n")
    }

    @Test("the public half is PEM as openssl writes it")
    func pem() throws {
        let seed = try bytes("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
        let pem = try #require(ExportKey(seed: seed)).publicPEM
        #expect(
            pem
                == """
                -----BEGIN PUBLIC KEY-----
                MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=
                -----END PUBLIC KEY-----

                """)
    }

    private func bytes(_ text: String) throws -> [UInt8] {
        try #require([UInt8](hexadecimal: text))
    }
}
