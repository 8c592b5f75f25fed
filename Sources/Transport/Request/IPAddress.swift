// Who is at the other end of a connection, as a value that costs nothing to hold, compare and hash.

import NIOCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// An IPv4 or IPv6 address without port and zone. An IPv4 address that came mapped into IPv6 (RFC 4291, 2.5.5.2), as it
/// does where a node listens on `::`, is the IPv4 address.
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

    package var isV4: Bool { high == 0 && low >> 32 == Self.mappedPrefix >> 32 }

    /// Nil for what is no address in the usual text forms; brackets, ports and zones are not part of it.
    package init?(parsing text: some StringProtocol) {
        var v4 = in_addr()
        var v6 = in6_addr()
        let text = String(text)
        // A C string ends at its first NUL.
        guard text.utf8.count < Int(INET6_ADDRSTRLEN), !text.utf8.contains(0) else { return nil }
        if inet_pton(AF_INET, text, &v4) == 1 {
            self.init(v4: UInt32(bigEndian: v4.s_addr))
        } else if inet_pton(AF_INET6, text, &v6) == 1 {
            self.init(v6)
        } else {
            return nil
        }
    }

    /// Nil for a Unix socket.
    init?(_ address: SocketAddress) {
        switch address {
        case .v4(let address): self.init(v4: UInt32(bigEndian: address.address.sin_addr.s_addr))
        case .v6(let address): self.init(address.address.sin6_addr)
        case .unixDomainSocket: return nil
        }
    }

    private init(_ address: in6_addr) {
        self = withUnsafeBytes(of: address) { bytes in
            IPAddress(
                high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }
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
