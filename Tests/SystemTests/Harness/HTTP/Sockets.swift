// Connections to nodes and to PostgreSQL, on 127.0.0.1 and on Unix sockets.

import Foundation
import TestSupport

extension Sockets {
    /// Returns a connected non-blocking socket; nil, with errno set, if the connection failed.
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
}
