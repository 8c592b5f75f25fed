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

    /// Returns the port of a socket's own end.
    static func port(of socket: Int32) throws -> Int {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
        }
        guard code == 0 else { throw CocoaError(.fileReadUnknown) }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Returns the bytes of a connection on 127.0.0.1 that wait in the kernel, at either end, to be read at port `to`.
    /// Nil if there is no such connection.
    static func unreadByteCount(from: Int, to: Int) throws -> Int? {
        let ends = Set([from, to].map { String($0, radix: 16, uppercase: true) })
        var counts: [Int] = []
        // A read of a file in /proc returns a page at most, and `String(contentsOfFile:)` reads once.
        let table = try FileHandle(forReadingFrom: URL(filePath: "/proc/net/tcp")).readToEnd() ?? Data()
        for line in String(decoding: table, as: UTF8.self).split(separator: "\n").dropFirst() {
            // `0: 0100007F:1F90 0100007F:C350 01 00000000:00000000 …`: own end, other end, state, queues to send and to read.
            let fields = line.split(separator: " ")
            guard fields.count > 4 else { continue }
            let ports = fields[1...2].map { $0.suffix(4).drop { $0 == "0" } }
            guard Set(ports.map { String($0) }) == ends else { continue }
            let queues = fields[4].split(separator: ":").compactMap { Int($0, radix: 16) }
            let isSender = Int(ports[0], radix: 16) == from
            if queues.count == 2 { counts.append(queues[isSender ? 0 : 1]) }
        }
        return counts.count == 2 ? counts.reduce(0, +) : nil
    }

    static func setNoDelay(_ socket: Int32) {
        var on: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }
}
