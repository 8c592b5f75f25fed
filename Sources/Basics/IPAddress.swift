// IP addresses and ranges of them, as values that are cheap to hold, compare and hash.

import Glibc

/// An IPv4 or IPv6 address without port and zone. An IPv4 address mapped into IPv6 (RFC 4291, 2.5.5.2), as a node that
/// listens on `::` sees it, equals the IPv4 address.
package struct IPAddress: Hashable, Sendable {
    /// The 128 bits of an IPv6 address, or of an IPv4 address mapped into it.
    package let high: UInt64
    package let low: UInt64

    private static let mappedPrefix: UInt64 = 0xffff_0000_0000

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package init(v4 address: UInt32) { self.init(high: 0, low: Self.mappedPrefix | UInt64(address)) }

    package init(_ address: in_addr) { self.init(v4: UInt32(bigEndian: address.s_addr)) }

    package init(_ address: in6_addr) {
        self = withUnsafeBytes(of: address) { bytes in
            IPAddress(
                high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }

    /// Reads the usual text forms. Nil for anything else: brackets, ports and zones are not part of an address.
    package init?(parsing text: some StringProtocol) {
        var v4 = in_addr()
        var v6 = in6_addr()
        let text = String(text)
        // A C string ends at its first NUL.
        guard text.utf8.count < Int(INET6_ADDRSTRLEN), !text.utf8.contains(0) else { return nil }
        if inet_pton(AF_INET, text, &v4) == 1 {
            self.init(v4)
        } else if inet_pton(AF_INET6, text, &v6) == 1 {
            self.init(v6)
        } else {
            return nil
        }
    }

    /// Reads an IPv4 address in any form that resolvers accept: one to four parts, each decimal, octal or hexadecimal
    /// (`127.1`, `017700000001`, `0x7f000001`). Nil for anything else.
    package init?(resolving text: String) {
        var v4 = in_addr()
        guard inet_aton(text, &v4) == 1 else { return nil }
        self.init(v4)
    }

    package var isV4: Bool { high == 0 && low >> 32 == Self.mappedPrefix >> 32 }

    /// The address with only its first `bitCount` of 128 bits kept. The bits of an IPv4 address are the last 32.
    package func prefix(_ bitCount: Int) -> IPAddress {
        IPAddress(high: high & Self.mask(bitCount), low: low & Self.mask(bitCount - 64))
    }

    private static func mask(_ bitCount: Int) -> UInt64 {
        bitCount <= 0 ? 0 : bitCount >= 64 ? .max : .max << UInt64(64 - bitCount)
    }

    /// The address or network that counts as one client: an IPv4 address, or an IPv6 network of 64 bits, because one
    /// host may use all of it.
    package var client: IPAddress { isV4 ? self : prefix(64) }
}

extension IPAddress: CustomStringConvertible {
    /// The usual text: `192.0.2.1`, `2001:db8::1`.
    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        if isV4 {
            var address = in_addr(s_addr: UInt32(truncatingIfNeeded: low).bigEndian)
            inet_ntop(AF_INET, &address, &text, socklen_t(text.count))
        } else {
            var bytes = (high.bigEndian, low.bigEndian)
            inet_ntop(AF_INET6, &bytes, &text, socklen_t(text.count))
        }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    }
}

/// A range of addresses: `10.0.0.0/8`, `2001:db8::/32`, or a single address.
package struct AddressRange: Sendable, Equatable {
    private let base: IPAddress
    private let bitCount: Int

    /// Returns nil for a text that is no range.
    package init?(parsing text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let base = parts.first.flatMap({ IPAddress(parsing: $0) }) else { return nil }
        let width = base.isV4 ? 32 : 128
        var bitCount = width
        if parts.count == 2 {
            guard let given = Int(parts[1]), (0...width).contains(given), parts[1] == String(given) else { return nil }
            bitCount = given
        }
        self.bitCount = 128 - width + bitCount
        self.base = base.prefix(self.bitCount)
    }

    package func contains(_ address: IPAddress) -> Bool { address.prefix(bitCount) == base }
}
