// The host in a URL that a client asks the service to call, as resolvers and libcurl read it.
import Basics

/// A host's name or address. A host that no resolver can look up is neither.
package enum URLHost: Equatable, Sendable {
    /// In lower case, without a dot at the end.
    case name(String)
    case address(IPAddress)

    /// Reads a URL's authority without a user: `host`, `host:port`, `[address]:port`. Nil for a host that cannot be
    /// connected to.
    ///
    /// A percent-encoded host is refused because it only hides the host. An IPv6 zone is refused because it is for
    /// addresses of the machine's own link.
    package init?(authority: some StringProtocol) {
        var host = authority[...]
        if host.first == "[" {
            guard let end = host.firstIndex(of: "]"), Self.isPort(host[host.index(after: end)...]) else { return nil }
            let text = String(host[host.index(after: host.startIndex)..<end])
            guard text.contains(":"), !text.contains("%"), let address = IPAddress(parsing: text) else { return nil }
            self = .address(address)
            return
        }
        if let colon = host.firstIndex(of: ":") {
            guard Self.isPort(host[colon...]) else { return nil }
            host = host[..<colon]
        }
        if host.last == "." { host = host.dropLast() }
        let name = host.lowercased()
        if let address = IPAddress(resolving: name) {
            self = .address(address)
        } else if Self.isName(name) {
            self = .name(name)
        } else {
            return nil
        }
    }

    /// Whether the host may be on the internet. The addresses of a name are checked when it is connected to.
    package var isPublic: Bool {
        switch self {
        case .address(let address): address.isPublic
        case .name(let name): !Self.ownNames.contains { name == $0 || name.hasSuffix("." + $0) }
        }
    }

    /// Names of the machine itself (RFC 6761, 6.3, and those in Linux's /etc/hosts).
    private static let ownNames = [
        "localhost", "localhost.localdomain", "localhost4", "localhost4.localdomain4", "localhost6",
        "localhost6.localdomain6", "ip6-localhost", "ip6-loopback",
    ]

    /// Empty, or a colon and a number, or a colon alone (RFC 3986).
    private static func isPort(_ rest: some StringProtocol) -> Bool {
        guard rest.first == ":" else { return rest.isEmpty }
        let digits = rest.dropFirst()
        return digits.isEmpty || digits.utf8.allSatisfy(\.isDigit) && (1...65_535).contains(Int(digits) ?? 0)
    }

    /// Labels of letters, digits, hyphens and underscores. A last label that is a number is refused: the host would be
    /// an address, and it was not read as one (WHATWG URL, "ends in a number").
    private static func isName(_ name: String) -> Bool {
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard name.utf8.count <= 253, let last = labels.last else { return false }
        let isHexadecimal = last.hasPrefix("0x") && last.utf8.dropFirst(2).allSatisfy { $0.hexadecimalDigit != nil }
        guard !isHexadecimal, !last.utf8.allSatisfy(\.isDigit) else { return false }
        return labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.utf8.allSatisfy { $0.isAlphanumeric || "-_".utf8.contains($0) }
        }
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
