// The address of a socket as NIO reports it.
import Basics
import NIOCore

extension IPAddress {
    /// Returns nil for a Unix socket.
    init?(_ address: SocketAddress) {
        switch address {
        case .v4(let address): self.init(address.address.sin_addr)
        case .v6(let address): self.init(address.address.sin6_addr)
        case .unixDomainSocket: return nil
        }
    }
}
