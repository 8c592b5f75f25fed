// Which addresses are the internet's, and which hosts of URLs lead there.
import Basics
import Domain
import Testing

@Suite("Public addresses", .timeLimit(.minutes(1)))
struct PublicAddresses {
    @Test(
        "are those of hosts on the internet",
        arguments: [
            "1.1.1.1", "17.57.144.22", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0",
            "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700::1111", "2a00:1450::1", "2001:200::1",
            "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:101:101::1", "3ffe:ffff::1",
        ])
    func isPublic(_ text: String) throws { #expect(try #require(IPAddress(parsing: text)).isPublic) }

    @Test(
        "are not those of private networks, this machine, its link, a carrier, or other uses",
        arguments: [
            "0.0.0.0", "0.1.2.3", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1",
            "127.255.255.255", "169.254.169.254", "172.16.0.0", "172.31.255.255", "192.0.0.8", "192.0.2.1",
            "192.88.99.1", "192.168.0.0", "192.168.255.255", "198.18.0.0", "198.19.255.255", "198.51.100.1",
            "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "::", "::1", "::2",
            "::127.0.0.1", "::1.1.1.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::10.0.0.1",
            "64:ff9b::169.254.169.254", "64:ff9b:1::1.1.1.1", "64:ff9b:0:0:1::1.1.1.1", "2002:7f00:1::1",
            "2002:a00:1::1", "2001::1", "2001:0:4136:e378::1", "2001:2::1", "2001:db8::1", "3fff::1", "3fff:fff::1",
            "fc00::1", "fd12:3456::1", "fe80::1", "fec0::1", "ff02::1", "5f00::1", "4000::1", "100::1",
        ])
    func isNotPublic(_ text: String) throws { #expect(try !#require(IPAddress(parsing: text)).isPublic) }

    @Test("are read from nothing else", arguments: ["", "1.2.3", "localhost", "1.2.3.4.5", "[::1]", "2600::%eth0"])
    func unreadable(_ text: String) { #expect(IPAddress(parsing: text) == nil) }
}

@Suite("Hosts of URLs", .timeLimit(.minutes(1)))
struct HostsOfURLs {
    @Test(
        "on the internet are names, and public addresses in any spelling",
        arguments: [
            "a.example", "A.Example:443", "a.example.", "xn--bcher-kva.example", "push_1.example:65535", "a.example:",
            "intranet", "localhost.example", "notlocalhost", "1.1.1.1", "0x1010101", "1.1", "16843009",
            "[2606:4700::1]",
            "[2606:4700::1]:8443", "[::ffff:1.1.1.1]", "[64:ff9b::101:101]", "1a.example", "0x.example", "3com",
        ])
    func isPublic(_ authority: String) throws { #expect(try #require(URLHost(authority: authority)).isPublic) }

    @Test(
        "of this machine, its link and private networks are not public, in whatever spelling a resolver reads",
        arguments: [
            "localhost", "LOCALHOST", "localhost.", "LocalHost:443", "a.localhost", "a.b.localhost.",
            "localhost.localdomain", "localhost6", "ip6-localhost", "ip6-loopback",
            "127.0.0.1", "127.0.0.1.", "127.0.0.1:443", "127.1", "127.0.1", "2130706433", "0x7f000001", "0X7F.1",
            "0x7f.0x0.0x0.0x1", "017700000001", "0177.0.0.1", "0177.0x1", "00000000177.0.0.1", "0", "0.0.0.0", "0x0",
            "10.0.0.1", "10.1", "0xa.1", "167772161", "012.1", "172.16.0.1", "0xac.16.1", "192.168.1", "0300.0250.1",
            "169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "100.64.0.1", "224.0.0.1",
            "255.255.255.255", "4294967295",
            "[::1]", "[::1]:443", "[::]", "[0:0:0:0:0:0:0:1]", "[0000:0000::0001]", "[::127.0.0.1]", "[::7f00:1]",
            "[::ffff:127.0.0.1]", "[::FFFF:7F00:1]", "[::ffff:10.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::a00:1]",
            "[64:ff9b:1::1.1.1.1]", "[2002:7f00:1::]", "[2002:a9fe:a9fe::1]", "[fe80::1]", "[fc00::1]", "[fd00::1]",
            "[fec0::1]", "[ff02::1]", "[2001:db8::1]", "[2001::1]",
        ])
    func isNotPublic(_ authority: String) throws { #expect(try !#require(URLHost(authority: authority)).isPublic) }

    @Test(
        "that no resolver can look up are invalid",
        arguments: [
            "", ".", "..", "a..example", ".a.example", "a.example..", "127.0.0.1..", "1.2.3.4.5", "256.1.1.1",
            "1.2.3.256",
            "0400.1.1.1", "4294967296", "0x100000000", "08.8.8.8", "a.1", "a.0x7f", "a.example:0", "a.example:65536",
            "a.example:x", "a.example:80:80", "a.example:-1", "127%2e0.0.1", "%6cocalhost", "a%00.example",
            "a*b.example",
            "[::1", "[::1]x", "[::1].", "[1.1.1.1]", "[a.example]", "[]", "[fe80::1%25eth0]", "[2606:4700::1%eth0]",
            "[::1]:x", "::1", String(repeating: "a", count: 64) + ".example",
            String(repeating: "a.", count: 127) + "example",
        ])
    func isNone(_ authority: String) { #expect(URLHost(authority: authority) == nil) }
}
