// Detects whether a client reads the bytes that were written for it. A value: no I/O, no clock.

import NIOCore

/// Counts written bytes, and detects a client that reads nothing.
struct OutputMeter {
    enum State: Equatable {
        /// The kernel has accepted everything.
        case empty
        case moving
        /// The client has read nothing for the whole timeout.
        case stalled
    }

    /// Whether bytes may still wait for the client. False once `check` has found none.
    private(set) var mayHaveOutput = false
    /// When the client last took bytes, or when bytes began to wait.
    private(set) var waitingSince: NIODeadline
    private var writtenByteCount = 0
    private var takenByteCount = 0

    init(now: NIODeadline) { waitingSince = now }

    /// Counts bytes that were written. Returns true if none may have waited before.
    mutating func write(_ byteCount: Int, now: NIODeadline) -> Bool {
        writtenByteCount += byteCount
        guard !mayHaveOutput else { return false }
        mayHaveOutput = true
        waitingSince = now
        return true
    }

    /// Compares what the kernel has not taken yet with the check before.
    mutating func check(unsentByteCount: Int, now: NIODeadline, timeout: TimeAmount) -> State {
        guard unsentByteCount > 0 else {
            mayHaveOutput = false
            return .empty
        }
        let taken = writtenByteCount - unsentByteCount
        if taken > takenByteCount {
            takenByteCount = taken
            waitingSince = now
            return .moving
        }
        return now >= waitingSince + timeout ? .stalled : .moving
    }
}
