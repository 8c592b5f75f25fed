// The addresses of peers, as NIO reports them.
import Basics
import NIOCore
import Testing

@testable import Transport

@Suite("An address of a peer", .timeLimit(.minutes(1)))
struct PeerAddresses {
    @Test("is the address of the socket", arguments: ["127.0.0.1", "::ffff:192.0.2.1", "::1", "2001:DB8:0:0::1", "::"])
    func sockets(text: String) throws {
        #expect(try IPAddress(SocketAddress(ipAddress: text, port: 1)) == IPAddress(parsing: text))
    }
}
