// How much of an answer is read. Runs without libcurl.
import Testing

@testable import Outbound

@Suite("Reading an answer", .timeLimit(.minutes(1)))
struct ReadingAnswers {
    private func read(_ lines: [String], body: [Int] = []) -> AnswerReader {
        var reader = AnswerReader(bodyByteCountMax: 100)
        for line in lines { Array(line.utf8).withUnsafeBytes { reader.takeHeader($0) } }
        for count in body { [UInt8](repeating: 0, count: count).withUnsafeBytes { reader.takeBody($0) } }
        return reader
    }

    @Test("keeps the last answer's headers, with names in lower case and values trimmed")
    func headers() {
        let reader = read([
            "HTTP/1.1 103 Early Hints\r\n", "Link: x\r\n", "\r\n", "HTTP/2 200\r\n", "X-A:  b: c \r\n", "x-b:\r\n",
            "\r\n",
        ])
        #expect(reader.headers == ["x-a": "b: c", "x-b": ""] && !reader.isTooLarge)
    }

    @Test(
        "detects that an answer is complete when its length is known",
        arguments: [
            (["HTTP/2 200\r\n", "Content-Length: 5\r\n", "\r\n"], [2, 3], true),
            (["HTTP/2 200\r\n", "Content-Length: 0\r\n", "\r\n"], [], true),
            (["HTTP/2 200\r\n", "Content-Length: 5\r\n", "\r\n"], [4], false),
            (["HTTP/2 200\r\n", "Content-Length: 0\r\n"], [], false), (["HTTP/2 200\r\n", "\r\n"], [], false),
            (["HTTP/2 103\r\n", "Content-Length: 0\r\n", "\r\n", "HTTP/2 200\r\n"], [], false),
        ])
    func whole(_ lines: [String], _ body: [Int], _ isWhole: Bool) {
        #expect(read(lines, body: body).isWhole == isWhole)
    }

    @Test("accepts an answer up to the limit and not a byte more")
    func bounds() {
        #expect(read([], body: [60, 40]).body.count == 100)
        #expect(!read([], body: [60, 40]).isTooLarge && read([], body: [60, 41]).isTooLarge)
        let line = String(repeating: "x", count: 1 << 10)
        #expect(
            !read(Array(repeating: line, count: 16)).isTooLarge && read(Array(repeating: line, count: 17)).isTooLarge)
    }
}
