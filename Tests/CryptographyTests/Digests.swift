// SHA-256 and SHA-1 by their published vectors.
import Basics
import Cryptography
import Testing

@Suite("SHA-256", .timeLimit(.minutes(1)))
struct SHA256Digests {
    struct Vector: Sendable {
        var text: String
        var repetitionCount = 1
        var digest: String

        var bytes: [UInt8] { Array(String(repeating: text, count: repetitionCount).utf8) }
    }

    /// FIPS 180-4's examples.
    static let vectors = [
        Vector(text: "", digest: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        Vector(text: "abc", digest: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        Vector(
            text: "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            digest: "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
        Vector(
            text: "a", repetitionCount: 1_000_000,
            digest: "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ]

    @Test("returns the digests of FIPS 180-4's examples", arguments: vectors)
    func vector(_ vector: Vector) {
        #expect(SHA256.digest(vector.bytes).hexadecimal == vector.digest)
    }

    @Test("returns the same digest for bytes in pieces", arguments: vectors, [7, 64, 100_000])
    func pieces(_ vector: Vector, size: Int) {
        let bytes = vector.bytes
        var digest = SHA256()
        for start in stride(from: 0, to: bytes.count, by: size) {
            digest.update(Array(bytes[start..<min(start + size, bytes.count)]))
            digest.update([])
        }
        #expect(digest.finalize().hexadecimal == vector.digest)
    }

    @Test("continues after a digest was read, and in each copy on its own")
    func copies() {
        var first = SHA256()
        first.update(Array("a".utf8))
        #expect(first.finalize() == SHA256.digest(Array("a".utf8)))
        var second = first
        first.update(Array("bc".utf8))
        second.update(Array("x".utf8))
        #expect(first.finalize() == SHA256.digest(Array("abc".utf8)))
        #expect(first.finalize() == SHA256.digest(Array("abc".utf8)))
        #expect(second.finalize() == SHA256.digest(Array("ax".utf8)))
    }

    @Test("is computed by copies of one value on several threads at once")
    func threads() async {
        var start = SHA256()
        start.update(Array("ab".utf8))
        let shared = start
        let digests = await withTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<64 {
                group.addTask {
                    var copy = shared
                    copy.update(Array("c".utf8))
                    return copy.finalize()
                }
            }
            return await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(digests == [SHA256.digest(Array("abc".utf8))])
    }
}

@Suite("SHA-1", .timeLimit(.minutes(1)))
struct SHA1Digests {
    @Test("returns the digests of FIPS 180-4's examples")
    func vector() {
        #expect(SHA1.digest([]).hexadecimal == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
        #expect(SHA1.digest(Array("abc".utf8)).hexadecimal == "a9993e364706816aba3e25717850c26c9cd0d89d")
    }
}

@Suite("Random bytes", .timeLimit(.minutes(1)))
struct RandomBytesTests {
    @Test("are as many as asked for, and never the same twice")
    func fresh() {
        #expect(RandomBytes.make(count: 0).isEmpty)
        #expect(Set((1...100).map { _ in RandomBytes.make(count: 16) }).count == 100)
        #expect(RandomBytes.make(count: 1_000).count == 1_000)
    }
}
