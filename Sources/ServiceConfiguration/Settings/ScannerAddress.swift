// Parses the address of the virus scanner. VirusScanner connects to it.
import CommandLineFlags

/// The address of a ClamAV daemon: `clamd://host:port` or `clamd:///path/to/socket`.
package enum ScannerAddress: Sendable, Equatable {
    /// A name or an address; an IPv6 address without its brackets.
    case host(String, port: Int)
    /// The path of a Unix socket.
    case socket(path: String)

    /// Parses a URL; nil if it is invalid. The default port is 3310.
    package init?(_ text: String) {
        let scheme = "clamd://"
        guard text.hasPrefix(scheme), text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else { return nil }
        let rest = text.dropFirst(scheme.count)
        if rest.hasPrefix("/") {
            // The kernel's limit of a socket's path, with the zero at its end: 108 bytes (unix(7)).
            guard rest.count > 1, rest.utf8.count < 108 else { return nil }
            self = .socket(path: String(rest))
            return
        }
        guard let match = rest.wholeMatch(of: /(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._\-]+))(?::([0-9]{1,5}))?\/?/),
            let host = match.1 ?? match.2, let port = Int(match.3 ?? "3310"), (1...65_535).contains(port)
        else { return nil }
        self = .host(String(host), port: port)
    }

    var text: String {
        switch self {
        case .host(let host, let port): "clamd://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        case .socket(let path): "clamd://\(path)"
        }
    }
}

extension ValueFormat<ScannerAddress> {
    static var scanner: Self {
        ValueFormat(
            expectation: "an address of the form clamd://host:3310 or clamd:///path/to/clamd.sock",
            parse: { ScannerAddress($0) }, print: \.text)
    }
}
