import Archives
// The last line of an archive.
import Basics
import Cryptography
import Testing

@Suite("The last line of an archive", .timeLimit(.minutes(1)))
struct LastLine {
    @Test("counts the lines of each type, and has the digest of all bytes before it")
    func counts() {
        var digest = ArchiveDigest()
        let (first, second) = (Array("{\"a\":1}\n".utf8), Array("{\"b\":2}\n{\"c\":3}\n".utf8))
        digest.update(first, type: "archive", count: 1)
        digest.update(second, type: "user", count: 2)
        digest.update(second, type: "user", count: 2)
        let sum = SHA256.digest(first + second + second).hexadecimal
        let line = String(decoding: digest.finish(), as: UTF8.self)
        #expect(
            line == """
                {"type":"end","data":{"lines":5,"counts":{"archive":1,"user":4},"sha256":"\(sum)"}}\n
                """)
        #expect(digest.lineCount == 5 && digest.byteCount == first.count + 2 * second.count)
    }

    @Test("of an empty archive is a line, too")
    func empty() {
        let line = String(decoding: ArchiveDigest().finish(), as: UTF8.self)
        #expect(line.hasPrefix(#"{"type":"end","data":{"lines":0,"counts":{},"sha256":"e3b0c44298fc1c14"#))
    }
}
