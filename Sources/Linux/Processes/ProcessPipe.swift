// A pipe to or from a child process.

import Glibc
import Synchronization

/// A pipe that closes its ends when it is released. A child inherits an end only if the end is passed to it. It is a
/// socket pair, because Swift does not import pipe2, and pipe(2) alone would leak the ends into a child that another
/// thread starts at the same time.
package final class ProcessPipe: Sendable {
    package let readEnd: Int32
    package let writeEnd: Int32
    private let readEndIsOpen = Atomic(true)
    private let writeEndIsOpen = Atomic(true)

    package init() throws {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw FileError("make", "a pipe") }
        readEnd = ends[0]
        writeEnd = ends[1]
    }

    package func closeReadEnd() {
        if readEndIsOpen.exchange(false, ordering: .relaxed) { close(readEnd) }
    }

    package func closeWriteEnd() {
        if writeEndIsOpen.exchange(false, ordering: .relaxed) { close(writeEnd) }
    }

    /// Writes all bytes; blocks while the pipe is full. Returns false if the read end is closed, without SIGPIPE.
    package func writeAll(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = send(writeEnd, part.baseAddress, part.count, Int32(MSG_NOSIGNAL))
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    deinit {
        closeWriteEnd()
        closeReadEnd()
    }
}
