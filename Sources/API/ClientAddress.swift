// Whose request it is, by address: past the proxies that are trusted to say so.
import Domain
import HTTPTypes
import Transport

/// A range of addresses: `10.0.0.0/8`, `2001:db8::/32`, or a single one.
package struct AddressRange: Sendable, Equatable {
    private let base: IPAddress
    private let bitCount: Int

    /// Nil for what is none.
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

    func contains(_ address: IPAddress) -> Bool { address.prefix(bitCount) == base }
}

extension IPAddress {
    /// The address with all bits after the first so many cleared; an IPv4 address's own are the last 32 of 128.
    func prefix(_ bitCount: Int) -> IPAddress {
        IPAddress(
            high: high & Self.mask(bitCount), low: low & Self.mask(bitCount - 64))
    }

    private static func mask(_ bitCount: Int) -> UInt64 {
        bitCount <= 0 ? 0 : bitCount >= 64 ? .max : .max << UInt64(64 - bitCount)
    }

    /// What counts as one client: an IPv4 address, or a network of IPv6, of which anybody has all 2^64.
    var client: IPAddress { isV4 ? self : prefix(64) }
}

/// The proxies whose `X-Forwarded-For` is believed.
package struct TrustedProxies: Sendable {
    private let ranges: [AddressRange]

    package init(_ ranges: [AddressRange] = []) { self.ranges = ranges }

    /// The address that a request comes from: the peer's, or, where that is a trusted proxy, the right-most in the header
    /// that isn't one. What stands left of it anybody may have written.
    func client(peer: IPAddress?, forwarded: [String]) -> IPAddress? {
        guard var client = peer, isTrusted(client) else { return peer?.client }
        for entry in forwarded.reversed().flatMap({ $0.split(separator: ",").reversed() }) {
            // A proxy that writes something else than an address tells nothing of who is behind it.
            guard let address = Self.address(String(entry).trimmed) else { break }
            client = address
            guard isTrusted(address) else { break }
        }
        return client.client
    }

    private func isTrusted(_ address: IPAddress) -> Bool { ranges.contains { $0.contains(address) } }

    /// Some proxies write the port, too.
    private static func address(_ entry: String) -> IPAddress? {
        if entry.hasPrefix("["), let end = entry.firstIndex(of: "]") {
            return IPAddress(parsing: entry[entry.index(after: entry.startIndex)..<end])
        }
        if let address = IPAddress(parsing: entry) { return address }
        let parts = entry.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 ? IPAddress(parsing: parts[0]) : nil
    }
}

extension Call {
    /// Who asks, as far as addresses tell.
    func clientAddress(_ proxies: TrustedProxies) -> IPAddress? {
        proxies.client(peer: context.peerAddress, forwarded: request.headers[values: .xForwardedFor])
    }
}

extension HTTPField.Name {
    static let xForwardedFor = Self("X-Forwarded-For")!
}
