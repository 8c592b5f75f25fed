// The wall clock of this machine. What the database stores has the time of the database's clock.
import Glibc

/// The time since 1970. For durations use `ContinuousClock`.
package enum WallClock {
    package static var micros: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    package static var ms: Int64 { micros / 1_000 }
    package static var seconds: Int { Int(micros / 1_000_000) }
}
