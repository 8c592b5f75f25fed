// Detects a client that sends a body too slowly. A value: no I/O, no clock.

import NIOCore

/// Measures the rate of an upload over the time in which the server waits for the client. The time in which the server
/// does not read does not count.
struct UploadMeter {
    /// The window slides by a tenth of its length.
    static let slotCount = 10

    private struct Slot {
        var waited = TimeAmount.zero
        var byteCount = 0
    }

    private let byteCountMin: Int
    private let window: TimeAmount
    /// The slots that cover the last window, in order.
    private var slots: [Slot] = []
    private var current = Slot()
    /// It is nil while the server does not read.
    private var waitingSince: NIODeadline?

    /// - Parameter byteCountMin: the bytes that must arrive in each window.
    init(byteCountMin: Int, window: TimeAmount) {
        self.byteCountMin = byteCountMin
        self.window = window
    }

    mutating func receive(_ byteCount: Int) { current.byteCount += byteCount }

    mutating func startWaiting(_ now: NIODeadline) { waitingSince = waitingSince ?? now }

    mutating func stopWaiting(_ now: NIODeadline) {
        advance(now)
        waitingSince = nil
    }

    /// Whether too little arrived in the last window.
    mutating func isTooSlow(now: NIODeadline) -> Bool {
        advance(now)
        guard current.waited >= .nanoseconds(window.nanoseconds / Int64(Self.slotCount)) else { return false }
        slots.append(current)
        current = Slot()
        var waited = slots.reduce(.zero) { $0 + $1.waited }
        while let oldest = slots.first, waited - oldest.waited >= window {
            waited = waited - oldest.waited
            slots.removeFirst()
        }
        return waited >= window && slots.reduce(0) { $0 + $1.byteCount } < byteCountMin
    }

    private mutating func advance(_ now: NIODeadline) {
        guard let since = waitingSince else { return }
        current.waited = current.waited + (now - since)
        waitingSince = now
    }
}
