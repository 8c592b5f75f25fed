// AES-128-GCM by the vectors of its specification.
import Basics
import Cryptography
import Testing

@Suite("AES-128-GCM", .timeLimit(.minutes(1)))
struct Encryption {
    /// "The Galois/Counter Mode of Operation" (submission to NIST), appendix B, cases 1 to 3.
    @Test("returns the text and the tag of the specification's examples")
    func vectors() throws {
        let zero = [UInt8](repeating: 0, count: 16)
        let nonce = [UInt8](repeating: 0, count: 12)
        #expect(try AES128GCM.seal([], key: zero, nonce: nonce).hexadecimal == "58e2fccefa7e3061367f1d57a4e7455a")
        #expect(
            try AES128GCM.seal(zero, key: zero, nonce: nonce).hexadecimal
                == "0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf")
        let plaintext = bytes(
            hex: """
                d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
                1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255
                """)
        let sealed = try AES128GCM.seal(
            plaintext, key: bytes(hex: "feffe9928665731c6d6a8f9467308308"),
            nonce: bytes(hex: "cafebabefacedbaddecaf888"))
        let expected = bytes(
            hex: """
                42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e
                21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f5985
                4d5c2af327cd64a62cf35abd2ba6fab4
                """)
        #expect(sealed == expected)
    }

    @Test("opens what it has sealed, and nothing that differs from it in one bit or was sealed with another key")
    func opens() throws {
        let key = bytes(hex: "feffe9928665731c6d6a8f9467308308")
        let nonce = bytes(hex: "cafebabefacedbaddecaf888")
        for text in [[], Array("x".utf8), Array(repeating: UInt8(7), count: 6000)] {
            let sealed = try AES128GCM.seal(text, key: key, nonce: nonce)
            #expect(try AES128GCM.open(sealed, key: key, nonce: nonce) == text)
            for place in stride(from: 0, to: sealed.count, by: 7) {
                var changed = sealed
                changed[place] ^= 1
                #expect(try AES128GCM.open(changed, key: key, nonce: nonce) == nil)
            }
            #expect(try AES128GCM.open(Array(sealed.dropLast()), key: key, nonce: nonce) == nil)
            #expect(try AES128GCM.open(sealed, key: Array(key.reversed()), nonce: nonce) == nil)
        }
    }
}
