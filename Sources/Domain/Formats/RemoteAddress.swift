// Which addresses anybody may have the service connect to: the one list, asked of what a client names (URLHost) and of what
// is connected to in the end (Outbound).

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// An IPv4 or IPv6 address, without port and zone.
package struct RemoteAddress: Equatable, Sendable {
    /// The 128 bits of an IPv6 address; an IPv4 address is mapped into it (RFC 4291, 2.5.5.2).
    let high: UInt64
    let low: UInt64

    private static let mappedPrefix: UInt64 = 0xffff

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package init(v4: UInt32) { self.init(high: 0, low: Self.mappedPrefix << 32 | UInt64(v4)) }

    /// In the usual text forms; of a zone behind `%` nothing is kept. Nil for anything else.
    package init?(text: String) {
        let text = text.prefix { $0 != "%" }
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, String(text), &v4) == 1 {
            self.init(v4: UInt32(bigEndian: v4.s_addr))
        } else if inet_pton(AF_INET6, String(text), &v6) == 1 {
            self.init(v6)
        } else {
            return nil
        }
    }

    /// An IPv4 address in any form that resolvers read: one to four parts, each decimal, octal or hexadecimal
    /// (`127.1`, `017700000001`, `0x7f000001`). Nil for anything else.
    package init?(resolving text: String) {
        var v4 = in_addr()
        guard inet_aton(text, &v4) == 1 else { return nil }
        self.init(v4: UInt32(bigEndian: v4.s_addr))
    }

    package init(_ address: in6_addr) {
        self = withUnsafeBytes(of: address) { bytes in
            RemoteAddress(
                high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }

    /// Whether it is one of the internet's: not of a private network, of this machine or its link, of a carrier's, for many,
    /// or set aside for other uses (IANA's registries of special-purpose addresses, RFC 6890). An IPv4 address within an
    /// IPv6 one counts as itself.
    package var isPublic: Bool {
        if high == 0, low >> 32 == Self.mappedPrefix { return Self.isPublic(v4: UInt32(truncatingIfNeeded: low)) }
        // NAT64 (RFC 6052).
        if high == 0x0064_ff9b_0000_0000, low >> 32 == 0 { return Self.isPublic(v4: UInt32(low)) }
        // 6to4 (RFC 3056).
        if high >> 48 == 0x2002 { return Self.isPublic(v4: UInt32(truncatingIfNeeded: high >> 16)) }
        // Of all the rest only 2000::/3 is in use for hosts.
        guard high >> 61 == 1 else { return false }
        return !Self.withheldV6.contains { (high ^ $0.prefix) >> (64 - $0.length) == 0 }
    }

    private static func isPublic(v4: UInt32) -> Bool {
        !withheldV4.contains { (v4 ^ $0.prefix) >> (32 - $0.length) == 0 }
    }

    private static let withheldV4: [(prefix: UInt32, length: UInt32)] = [
        // This network, loopback, link.
        (0x0000_0000, 8), (0x7f00_0000, 8), (0xa9fe_0000, 16),
        // Private networks and carriers'.
        (0x0a00_0000, 8), (0xac10_0000, 12), (0xc0a8_0000, 16), (0x6440_0000, 10),
        // Protocols', documentation, benchmarks, what was relays of 6to4.
        (0xc000_0000, 24), (0xc000_0200, 24), (0xc633_6400, 24), (0xcb00_7100, 24), (0xc612_0000, 15),
        (0xc058_6300, 24),
        // Multicast, reserved, broadcast.
        (0xe000_0000, 4), (0xf000_0000, 4),
    ]

    private static let withheldV6: [(prefix: UInt64, length: UInt64)] = [
        // Protocols', Teredo's and benchmarks among them.
        (0x2001_0000_0000_0000, 23),
        // Documentation.
        (0x2001_0db8_0000_0000, 32), (0x3fff_0000_0000_0000, 20),
    ]
}
