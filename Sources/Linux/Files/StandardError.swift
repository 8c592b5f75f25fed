// Whole lines to standard error.

import Glibc
import Synchronization

package enum StandardError {
    /// Keeps lines of several threads apart, even in a pipe, where a long line takes several writes.
    private static let lock = Mutex<Void>(())

    /// Writes the complete line. May block, as any write to a terminal or pipe. A line that cannot be written is lost,
    /// because there is no other place to report it.
    @Sendable package static func write(_ line: String) {
        lock.withLock { _ in
            var line = line
            line.withUTF8 { bytes in
                var rest = UnsafeRawBufferPointer(bytes)
                while let start = rest.baseAddress, !rest.isEmpty {
                    // Qualified: `write` alone is this function.
                    let count = Glibc.write(STDERR_FILENO, start, rest.count)
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { return }
                    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                }
            }
        }
    }
}
