// The beginnings of the absolute addresses that the service returns: of links to files, and of hooks.
import Basics
import Domain
import HTTPTypes
import Transport

/// The origins at which clients reach the service.
package struct PublicOrigins: Sendable {
    private let configured: String?
    private let proxies: TrustedProxies
    private let usesTLS: Bool

    /// - Parameters:
    ///   - configured: the origin of all addresses (`PARLEY_PUBLIC_URL`). Nil: that of the request.
    ///   - usesTLS: whether clients reach this node by TLS without a proxy.
    package init(configured: String?, proxies: TrustedProxies, usesTLS: Bool) {
        (self.configured, self.proxies, self.usesTLS) = (configured, proxies, usesTLS)
    }

    func text(for call: Call) throws(Problem) -> String {
        if let configured { configured } else { try ofRequest(call).description }
    }

    func ofRequest(_ call: Call) throws(Problem) -> PublicOrigin { try PublicOrigin(call, proxies, usesTLS: usesTLS) }
}

/// The scheme, host and port of a request. The client chooses the host.
struct PublicOrigin: CustomStringConvertible {
    let isSecure: Bool
    /// The Host header: a host and, unless it is the scheme's, a port.
    let host: String

    /// - Throws: 400 without a Host header, which HTTP/1.0 permits.
    init(_ call: Call, _ proxies: TrustedProxies, usesTLS: Bool) throws(Problem) {
        guard let host = call.request.headers.host, !host.isEmpty else {
            throw Problem(.malformedRequest, "The header Host is missing. Send it, or use HTTP/1.1.")
        }
        let isProxied = call.request.peerAddress.map(proxies.contains) ?? false
        let forwarded = isProxied ? call.request.headers[.xForwardedProto] : nil
        self.init(isSecure: forwarded.map(Self.isHTTPS) ?? usesTLS, host: host)
    }

    init(isSecure: Bool, host: String) {
        self.isSecure = isSecure
        self.host = host
    }

    /// The first proxy, which talks to the client, wrote the first element.
    private static func isHTTPS(_ forwarded: String) -> Bool {
        var list = HeaderList(forwarded[...].utf8, separator: ",", countMax: 1)
        return list.next()?.equals(ignoringCase: "https") ?? false
    }

    var description: String { "\(isSecure ? "https" : "http")://\(host)" }

    /// Whether this is `http://localhost` or the like. Browsers refuse Secure cookies there (Safari).
    var isPlainLoopback: Bool {
        guard !isSecure else { return false }
        let name = host.hasPrefix("[") ? host.prefix { $0 != "]" }.dropFirst() : host.prefix { $0 != ":" }
        let host = name.lowercased()
        guard let address = IPAddress(parsing: host) else { return host == "localhost" || host.hasSuffix(".localhost") }
        return host.hasPrefix("127.") || address == IPAddress(parsing: "::1")
    }
}

extension HTTPField.Name {
    static let xForwardedProto = Self("X-Forwarded-Proto")!
}
