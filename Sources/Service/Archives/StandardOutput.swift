// Writes archives to standard output.
import Glibc

enum StandardOutput {
    /// The reader of standard output has closed it.
    struct Closed: Error {}

    /// Call it before the first write: a closed pipe then ends a write with an error, not the process.
    static func prepare() { signal(SIGPIPE, SIG_IGN) }

    /// Throws `Closed`, `StartError`.
    static func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EPIPE { throw Closed() }
            guard count >= 0 else {
                throw StartError("standard output can't be written: \(String(cString: strerror(errno)))")
            }
            rest = rest.dropFirst(count)
        }
    }
}
