// The sockets of HTTP connections. libcurl opens them through this class, so that a silent one can be closed.
import CLibcurl
import Glibc

/// Used by one thread. libcurl has no call to close a connection that many transfers share. It would keep giving new
/// transfers to it as long as the server's machine answers.
final class OpenConnections {
    /// How long sent bytes may stay unacknowledged. After that the server's machine is gone, or a router has dropped
    /// the state.
    private static let unacknowledgedMsMax: Int32 = 10_000
    /// The same for streamed bodies, whose server may stop reading for a while.
    private static let unacknowledgedStreamMsMax: Int32 = 60_000

    /// Sockets whose local port is not known yet: they have none before they are connected.
    private var unnamed: Set<Int32> = []
    private var sockets: [Int: Int32] = [:]
    private var origins: [Int32: String] = [:]
    private var receivedAt: [Int: ContinuousClock.Instant] = [:]

    /// Returns -1 if the system refuses a socket.
    func open(
        to origin: String, family: Int32, type: Int32, protocol kind: Int32, isStreamed: Bool = false
    ) -> Int32 {
        let socket = Glibc.socket(family, type | Int32(SOCK_CLOEXEC.rawValue), kind)
        guard socket >= 0 else { return -1 }
        Self.set(
            socket, TCP_USER_TIMEOUT, isStreamed ? Self.unacknowledgedStreamMsMax : Self.unacknowledgedMsMax)
        unnamed.insert(socket)
        origins[socket] = origin
        return socket
    }

    func close(_ socket: Int32) -> Int32 {
        origins[socket] = nil
        if unnamed.remove(socket) == nil, let port = sockets.first(where: { $0.value == socket })?.key {
            sockets[port] = nil
            receivedAt[port] = nil
        }
        return Glibc.close(socket)
    }

    /// Whether there is a connection, or one being made.
    func isOpen(to origin: String) -> Bool { origins.values.contains(origin) }

    /// Sends everything that `write` writes together, in full packets. Then the server also reads and answers the
    /// requests together. libcurl writes each request by itself.
    func together(_ write: () -> Void) {
        let sockets = origins.keys
        for socket in sockets { Self.set(socket, TCP_CORK, 1) }
        write()
        // The numbers of closed sockets may be in use elsewhere by now.
        for socket in sockets where origins[socket] != nil { Self.set(socket, TCP_CORK, 0) }
    }

    /// Records that a connection has received something. Its local port identifies it.
    func received(port: Int, at now: ContinuousClock.Instant) {
        if socket(port: port) != nil { receivedAt[port] = now }
    }

    /// Closes a connection that has received nothing since `began`. Its transfers fail, or begin again on another one.
    func close(port: Int, ifSilentSince began: ContinuousClock.Instant) {
        if let time = receivedAt[port], time >= began { return }
        guard let socket = socket(port: port) else { return }
        shutdown(socket, Int32(SHUT_RDWR))
    }

    private static func set(_ socket: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(socket, Int32(IPPROTO_TCP), option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private func socket(port: Int) -> Int32? {
        for socket in unnamed {
            guard let port = Self.localPort(of: socket) else { continue }
            unnamed.remove(socket)
            sockets[port] = socket
        }
        return sockets[port]
    }

    /// Returns nil before the socket is connected.
    private static func localPort(of socket: Int32) -> Int? {
        var address = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) == 0 }
        }
        guard isKnown else { return nil }
        // The port is at the same place for IPv4 and IPv6.
        let port = withUnsafeBytes(of: address) {
            UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        }
        return port == 0 ? nil : Int(port)
    }
}
