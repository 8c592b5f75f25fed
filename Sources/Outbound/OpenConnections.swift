// The sockets of HTTP connections, which libcurl has made here: so that one that has gone dumb can be ended.
import CLibcurl
import Foundation

/// Used by one thread. libcurl knows no way to end a connection that many transfers share; it would give it new ones as long
/// as the server's machine is there.
final class OpenConnections {
    /// Bytes that nobody acknowledges: the other end's machine is gone, or a router has forgotten us.
    private static let unacknowledgedMsMax: Int32 = 10_000

    /// Those whose own port isn't known yet: they have none before they are connected.
    private var unnamed: Set<Int32> = []
    private var sockets: [Int: Int32] = [:]
    private var origins: [Int32: String] = [:]
    private var heardAt: [Int: ContinuousClock.Instant] = [:]

    /// -1 where the system has none.
    func open(to origin: String, family: Int32, type: Int32, protocol kind: Int32) -> Int32 {
        let socket = Foundation.socket(family, type | Int32(SOCK_CLOEXEC.rawValue), kind)
        guard socket >= 0 else { return -1 }
        Self.set(socket, TCP_USER_TIMEOUT, Self.unacknowledgedMsMax)
        unnamed.insert(socket)
        origins[socket] = origin
        return socket
    }

    func close(_ socket: Int32) -> Int32 {
        origins[socket] = nil
        if unnamed.remove(socket) == nil, let port = sockets.first(where: { $0.value == socket })?.key {
            sockets[port] = nil
            heardAt[port] = nil
        }
        return Foundation.close(socket)
    }

    /// Whether there is a connection, or one being made.
    func isOpen(to origin: String) -> Bool { origins.values.contains(origin) }

    /// What is written meanwhile leaves together, in full packets: the server takes requests up together, too, and answers
    /// them so. libcurl writes each by itself.
    func together(_ write: () -> Void) {
        let sockets = origins.keys
        for socket in sockets { Self.set(socket, TCP_CORK, 1) }
        write()
        // Those that were closed are others' by now, or nobody's.
        for socket in sockets where origins[socket] != nil { Self.set(socket, TCP_CORK, 0) }
    }

    /// A connection has answered something. One is known by its port at this end.
    func heard(port: Int, at now: ContinuousClock.Instant) { if socket(port: port) != nil { heardAt[port] = now } }

    /// Ends a connection that has answered nothing since then. The transfers on it fail, or begin again on another.
    func cut(port: Int, ifDumbSince began: ContinuousClock.Instant) {
        if let heard = heardAt[port], heard >= began { return }
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

    /// Nil before it is connected.
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
