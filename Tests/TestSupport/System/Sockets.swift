// Sockets on 127.0.0.1 by system calls, for servers that do only what a test needs, and free ports for real servers.

import Foundation

package enum Sockets {
    package struct Failure: Error, CustomStringConvertible {
        let code: Int32
        package var description: String { String(cString: strerror(code)) }
    }

    /// Returns a socket that listens on a port (0: any free one). The caller closes it. Child processes do not inherit it.
    /// - Parameter flags: more of the system's, such as `SOCK_NONBLOCK`.
    package static func listener(
        port: Int = 0, backlog: Int32 = 4_096, flags: Int32 = 0
    ) throws -> (socket: Int32, port: Int) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | flags, 0)
        guard listener >= 0 else { throw Failure(code: errno) }
        var address = loopback(port)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, backlog) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard isListening else {
            let failure = Failure(code: errno)
            close(listener)
            throw failure
        }
        return (listener, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// Returns a port that very likely stays free: not one of those that the kernel assigns to clients, which could
    /// occupy it while a killed server is down.
    /// - Parameter taken: ports returned before on which no server listens yet.
    package static func freePort(not taken: some Sequence<Int> = []) throws -> Int {
        for _ in 0..<1_000 {
            guard let probe = try? listener(port: .random(in: 20_000..<32_000)) else { continue }
            close(probe.socket)
            if !taken.contains(probe.port) { return probe.port }
        }
        throw Failure(code: EADDRINUSE)
    }

    package static func loopback(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        return address
    }
}
