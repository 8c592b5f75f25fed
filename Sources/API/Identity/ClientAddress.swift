// Whose request it is, by address. Which proxies are believed is in Transport/TrustedProxies.swift.
import Basics
import Domain
import HTTPTypes
import Transport

extension Call {
    /// Who asks, as far as addresses tell.
    func clientAddress(_ proxies: TrustedProxies) -> IPAddress? {
        proxies.client(peer: context.peerAddress, forwarded: request.headers[values: .xForwardedFor])
    }
}

extension HTTPField.Name {
    static let xForwardedFor = Self("X-Forwarded-For")!
}
