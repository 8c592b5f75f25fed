// Which addresses are the internet's, and how much of an answer is read: without libcurl.
import Testing

@testable import Outbound

@Suite("Public addresses")
struct PublicAddresses {
    @Test(
        "are those of hosts on the internet",
        arguments: [
            "1.1.1.1", "17.57.144.22", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0",
            "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700::1111", "2a00:1450::1", "2001:200::1",
            "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:101:101::1", "3ffe:ffff::1", "2600::%eth0",
        ])
    func isPublic(_ text: String) throws { #expect(try #require(RemoteAddress(text: text)).isPublic) }

    @Test(
        "are none of private networks, this machine's, its link's, a carrier's, or others' uses",
        arguments: [
            "0.0.0.0", "0.1.2.3", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1",
            "127.255.255.255", "169.254.169.254", "172.16.0.0", "172.31.255.255", "192.0.0.8", "192.0.2.1",
            "192.88.99.1", "192.168.0.0", "192.168.255.255", "198.18.0.0", "198.19.255.255", "198.51.100.1",
            "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "::", "::1", "::2",
            "::127.0.0.1", "::1.1.1.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::10.0.0.1",
            "64:ff9b::169.254.169.254", "64:ff9b:1::1.1.1.1", "64:ff9b:0:0:1::1.1.1.1", "2002:7f00:1::1",
            "2002:a00:1::1", "2001::1", "2001:0:4136:e378::1", "2001:2::1", "2001:db8::1", "3fff::1", "3fff:fff::1",
            "fc00::1", "fd12:3456::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "5f00::1", "4000::1", "100::1",
        ])
    func isNotPublic(_ text: String) throws { #expect(try !#require(RemoteAddress(text: text)).isPublic) }

    @Test("are read from nothing else", arguments: ["", "1.2.3", "localhost", "1.2.3.4.5", "[::1]"])
    func unreadable(_ text: String) { #expect(RemoteAddress(text: text) == nil) }
}

@Suite("Reading an answer")
struct ReadingAnswers {
    private func read(_ lines: [String], body: [Int] = []) -> AnswerReader {
        var reader = AnswerReader(bodyByteCountMax: 100)
        for line in lines { Array(line.utf8).withUnsafeBytes { reader.takeHeader($0) } }
        for count in body { [UInt8](repeating: 0, count: count).withUnsafeBytes { reader.takeBody($0) } }
        return reader
    }

    @Test("keeps the last answer's headers, names in lower case, values without their surroundings")
    func headers() {
        let reader = read([
            "HTTP/1.1 103 Early Hints\r\n", "Link: x\r\n", "\r\n", "HTTP/2 200\r\n", "X-A:  b: c \r\n", "x-b:\r\n",
            "\r\n",
        ])
        #expect(reader.headers == ["x-a": "b: c", "x-b": ""] && !reader.isTooLarge)
    }

    @Test(
        "knows when it is whole, as far as it was told how long it is",
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

    @Test("takes as much as it may and not a byte more")
    func bounds() {
        #expect(read([], body: [60, 40]).body.count == 100)
        #expect(!read([], body: [60, 40]).isTooLarge && read([], body: [60, 41]).isTooLarge)
        let line = String(repeating: "x", count: 1 << 10)
        #expect(
            !read(Array(repeating: line, count: 16)).isTooLarge && read(Array(repeating: line, count: 17)).isTooLarge)
    }
}
