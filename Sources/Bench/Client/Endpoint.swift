// The address of a node: an `http://host:port`, resolved once.
import Glibc
import Linux

/// A server's address, ready to connect to.
package struct Endpoint: Sendable, CustomStringConvertible {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The value of the `Host` header.
    package let authority: String
    package var description: String { "http://\(authority)" }
    let authorityBytes: [UInt8]
    let family: CInt
    /// A `sockaddr` of that family.
    let address: [UInt8]

    /// Blocks while the host name is resolved.
    ///
    /// - Parameter url: `http://host[:port]`, without a path.
    package init(url: String) throws(Failure) {
        guard url.hasPrefix("http://") else { throw Failure(description: "\(url) is not an http:// address") }
        var rest = url.dropFirst(7)
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard !rest.isEmpty, !rest.contains("/"), !rest.contains("@") else {
            throw Failure(description: "\(url) is not of the form http://host:port")
        }
        authority = String(rest)
        authorityBytes = Array(rest.utf8)
        var host = rest
        var port: Substring = "80"
        if let colon = rest.lastIndex(of: ":"), !rest[colon...].contains("]") {
            host = rest[..<colon]
            port = rest[rest.index(after: colon)...]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(String(host), String(port), &hints, &found)
        defer { if let found { freeaddrinfo(found) } }
        guard code == 0, let first = found?.pointee, let bytes = first.ai_addr else {
            throw Failure(description: "\(url): cannot resolve the host (\(String(cString: gai_strerror(code))))")
        }
        family = first.ai_family
        address = [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(first.ai_addrlen)))
    }

    /// Opens a non-blocking socket and starts to connect it. Returns the descriptor, or the error.
    func connect() -> Result<CInt, SystemFailure> {
        let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(family, type, 0)
        guard descriptor >= 0 else { return .failure(SystemFailure(code: errno)) }
        // Sends a request at once, without Nagle's delay.
        var on: CInt = 1
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
        let result = address.withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) {
                Glibc.connect(descriptor, $0.baseAddress, socklen_t(bytes.count))
            }
        }
        guard result == 0 || errno == EINPROGRESS else {
            let failure = SystemFailure(code: errno)
            close(descriptor)
            return .failure(failure)
        }
        return .success(descriptor)
    }
}
