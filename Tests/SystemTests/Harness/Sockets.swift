// The few calls that Swift makes clumsy: addresses, listening, connecting, on 127.0.0.1 and on Unix sockets.

import Foundation

enum Sockets {
    static let flags = Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)

    /// Binds and listens; gives the port.
    static func listen(_ socket: Int32, port: Int = 0) -> Int? {
        var address = loopback(port)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, size) == 0 && Glibc.listen(socket, 4_096) == 0 && getsockname(socket, $0, &size) == 0
            }
        }
        return isBound ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }

    /// A connection that does not block from then on; nil, and errno, when there is none to be had.
    static func connect(_ target: Proxy.Target) -> Int32? {
        let result: Int32
        let descriptor: Int32
        switch target {
        case .tcp(let port):
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = loopback(port)
            result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        case .unix(let path):
            descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8).prefix($0.count - 1)) }
            result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }
        guard result == 0 else {
            let code = errno
            close(descriptor)
            errno = code
            return nil
        }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        setNoDelay(descriptor)
        return descriptor
    }

    static func setNoDelay(_ socket: Int32) {
        var on: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// A port that stays free for who was told of it, as far as one can know: none of those that the kernel gives to
    /// clients, which would take it while a killed node is away.
    static func freePort() throws -> Int {
        for _ in 0..<1_000 {
            let port = Int.random(in: 20_000..<32_000)
            let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | flags, 0)
            defer { close(probe) }
            if listen(probe, port: port) != nil { return port }
        }
        throw Proxy.Failure(code: EADDRINUSE)
    }

    private static func loopback(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        return address
    }
}
