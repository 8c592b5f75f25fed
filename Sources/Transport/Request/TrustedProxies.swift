// The client address of a connection or request, as reported by trusted proxies.
import Basics

/// The proxies whose `X-Forwarded-For` is trusted.
package struct TrustedProxies: Sendable {
    private let ranges: [AddressRange]

    package init(_ ranges: [AddressRange] = []) { self.ranges = ranges }

    /// Whether an address is a trusted proxy. Costs one comparison for each range.
    package func contains(_ address: IPAddress) -> Bool { ranges.contains { $0.contains(address) } }

    /// The address that a request comes from: the peer's, or, if the peer is a trusted proxy, the right-most address in
    /// the header that is not one. Anyone may have written what is left of it. Reads the header from its end, so the
    /// cost depends on the number of proxies and not on what a client wrote.
    package func client(peer: IPAddress?, forwarded: [String]) -> IPAddress? {
        guard var client = peer, contains(client) else { return peer?.client }
        var entriesLeft = Self.entryCountMax
        for line in forwarded.reversed() {
            var rest: Substring.UTF8View? = line[...].utf8
            while let entries = rest, entriesLeft > 0 {
                entriesLeft -= 1
                let comma = entries.lastIndex(of: UInt8(ascii: ","))
                let entry = comma.map { entries[entries.index(after: $0)...] } ?? entries
                rest = comma.map { entries[..<$0] }
                if entry.isEmpty { continue }
                // A proxy that writes something other than an address says nothing about its client.
                guard let address = Self.address(Substring(entry)) else { return client.client }
                client = address
                guard contains(address) else { return client.client }
            }
        }
        return client.client
    }

    /// More proxies than any real chain has.
    private static let entryCountMax = 16
    private static let entryByteCountMax = 64

    /// Some proxies also write the port.
    private static func address(_ entry: Substring) -> IPAddress? {
        guard entry.utf8.count <= entryByteCountMax else { return nil }
        let entry = entry.drop { $0 == " " || $0 == "\t" }
        let end = entry.lastIndex { $0 != " " && $0 != "\t" }.map { entry.index(after: $0) } ?? entry.startIndex
        let text = entry[..<end]
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            return IPAddress(parsing: text[text.index(after: text.startIndex)..<end])
        }
        if let address = IPAddress(parsing: text) { return address }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 ? IPAddress(parsing: parts[0]) : nil
    }
}
