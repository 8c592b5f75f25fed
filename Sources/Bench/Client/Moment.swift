// Time as the load generator takes it: one clock for all threads, cheap to read, in whole nanoseconds.
import Glibc

/// A reading of the monotonic clock. Comparable across threads and processes of one machine.
package struct Moment: Comparable, Sendable {
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// 25 ns where the clock is read without a system call.
    package static var now: Moment {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Moment(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    package static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Nanoseconds from the right one to the left one.
    package static func - (left: Moment, right: Moment) -> Int64 { left.nanoseconds - right.nanoseconds }

    package static func + (moment: Moment, seconds: Double) -> Moment {
        Moment(nanoseconds: moment.nanoseconds + Int64(seconds * 1e9))
    }
}
