// Which addresses clients may have the service connect to. One list, used for the host in a URL (URLHost in Domain) and
// for the address of the connection in the end (Outbound).

extension IPAddress {
    /// Whether the address is one of a host on the internet. False for private networks, this machine, its link,
    /// carriers' networks, multicast, and addresses set aside for other uses (IANA's registries of special-purpose
    /// addresses, RFC 6890). An IPv4 address within an IPv6 address is judged as itself.
    package var isPublic: Bool {
        if isV4 { return Self.isPublic(v4: UInt32(truncatingIfNeeded: low)) }
        // NAT64 (RFC 6052).
        if high == 0x0064_ff9b_0000_0000, low >> 32 == 0 { return Self.isPublic(v4: UInt32(low)) }
        // 6to4 (RFC 3056).
        if high >> 48 == 0x2002 { return Self.isPublic(v4: UInt32(truncatingIfNeeded: high >> 16)) }
        // Of all others only 2000::/3 is in use for hosts.
        guard high >> 61 == 1 else { return false }
        return !Self.withheldV6.contains { (high ^ $0.prefix) >> (64 - $0.length) == 0 }
    }

    private static func isPublic(v4: UInt32) -> Bool {
        !withheldV4.contains { (v4 ^ $0.prefix) >> (32 - $0.length) == 0 }
    }

    private static let withheldV4: [(prefix: UInt32, length: UInt32)] = [
        // This network, loopback, link.
        (0x0000_0000, 8), (0x7f00_0000, 8), (0xa9fe_0000, 16),
        // Private networks, and networks of carriers.
        (0x0a00_0000, 8), (0xac10_0000, 12), (0xc0a8_0000, 16), (0x6440_0000, 10),
        // Protocol assignments, documentation, benchmarks, former 6to4 relays.
        (0xc000_0000, 24), (0xc000_0200, 24), (0xc633_6400, 24), (0xcb00_7100, 24), (0xc612_0000, 15),
        (0xc058_6300, 24),
        // Multicast, reserved, broadcast.
        (0xe000_0000, 4), (0xf000_0000, 4),
    ]

    private static let withheldV6: [(prefix: UInt64, length: UInt64)] = [
        // Protocol assignments, among them Teredo and benchmarks.
        (0x2001_0000_0000_0000, 23),
        // Documentation.
        (0x2001_0db8_0000_0000, 32), (0x3fff_0000_0000_0000, 20),
    ]
}
