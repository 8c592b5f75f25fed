// Whose connection or request it is, by address: past the proxies that are trusted to say so.
import Basics

/// The proxies whose `X-Forwarded-For` is believed.
package struct TrustedProxies: Sendable {
    private let ranges: [AddressRange]

    package init(_ ranges: [AddressRange] = []) { self.ranges = ranges }

    /// Whether an address is one of theirs. As many comparisons as there are ranges.
    package func contains(_ address: IPAddress) -> Bool { ranges.contains { $0.contains(address) } }

    /// The address that a request comes from: the peer's, or, where that is a trusted proxy, the right-most in the header
    /// that isn't one. What stands left of it anybody may have written. Reads the header from its end, so that what it
    /// costs is bounded by how many proxies there are and not by what a client wrote.
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
                // A proxy that writes something else than an address tells nothing of who is behind it.
                guard let address = Self.address(Substring(entry)) else { return client.client }
                client = address
                guard contains(address) else { return client.client }
            }
        }
        return client.client
    }

    /// More proxies than stand in a row anywhere.
    private static let entryCountMax = 16
    private static let entryByteCountMax = 64

    /// Some proxies write the port, too.
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
