// The client address of a request. Transport/Request/TrustedProxies.swift decides which proxies are trusted.
import Basics
import Domain
import HTTPTypes
import Transport

extension Call {
    /// The address of the client, behind trusted proxies. Nil if it is unknown.
    func clientAddress(_ proxies: TrustedProxies) -> IPAddress? {
        proxies.client(peer: context.peerAddress, forwarded: request.headers[values: .xForwardedFor])
    }
}

extension HTTPField.Name {
    static let xForwardedFor = Self("X-Forwarded-For")!
}
