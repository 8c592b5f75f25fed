// Time in the load generator: one clock for all threads, cheap to read, in whole nanoseconds.
import Glibc

/// A reading of the monotonic clock. Comparable across threads and processes of one machine.
package struct MonotonicTime: Comparable, Sendable {
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Takes 25 ns where the clock is read without a system call.
    package static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Nanoseconds from `right` to `left`.
    package static func - (left: MonotonicTime, right: MonotonicTime) -> Int64 { left.nanoseconds - right.nanoseconds }

    package static func + (start: MonotonicTime, seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: start.nanoseconds + Int64(seconds * 1e9))
    }
}
