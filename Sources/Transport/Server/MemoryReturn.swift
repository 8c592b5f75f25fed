// Returns memory to the system after many large bodies or answers. malloc keeps freed memory that lies below other
// blocks: after 600 MB of bodies a node kept 300 MB until it was restarted.

import CMalloc
import Dispatch
import NIOCore

/// Records how much memory one loop's connections hold, and trims the heap after a peak. A value of its loop.
struct MemoryReturn {
    /// A smaller peak is not worth a trim.
    static let peakByteCountMin = 16 * 1024 * 1024
    /// Time between two trims. Each holds malloc's locks for some milliseconds.
    static let interval = TimeAmount.seconds(10)

    private var peakByteCount = 0
    private var nextTrim = NIODeadline.uptimeNanoseconds(0)

    /// Records a size. A peak may come and go between two sweeps.
    mutating func record(byteCount: Int) { peakByteCount = max(peakByteCount, byteCount) }

    mutating func tick(byteCount: Int, now: NIODeadline) {
        if isDue(byteCount: byteCount, now: now) { Self.trim() }
    }

    /// Whether most of a peak has been freed.
    mutating func isDue(byteCount: Int, now: NIODeadline) -> Bool {
        record(byteCount: byteCount)
        guard peakByteCount >= Self.peakByteCountMin, byteCount < peakByteCount / 4, now >= nextTrim else {
            return false
        }
        peakByteCount = byteCount
        nextTrim = now + Self.interval
        return true
    }

    /// Not on the event loops, because other requests need them.
    private static func trim() {
        DispatchQueue.global(qos: .utility).async { _ = malloc_trim(0) }
    }
}
