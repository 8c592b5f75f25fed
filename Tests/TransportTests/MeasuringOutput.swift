// The meter that detects clients that read nothing, with the test's clock.

import NIOCore
import Testing

@testable import Transport

@Suite("The meter of output", .timeLimit(.minutes(1)))
struct MeasuringOutput {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private static let timeout = TimeAmount.seconds(30)

    private static func after(_ seconds: Int64) -> NIODeadline { start + .seconds(seconds) }

    @Test("has nothing to watch before the first write, and after the client has received all bytes")
    func nothingToWatch() {
        var meter = OutputMeter(now: Self.start)
        #expect(!meter.mayHaveOutput)
        let isFirst = meter.write(100, now: Self.start)
        #expect(isFirst && meter.mayHaveOutput)
        let state = meter.check(unsentByteCount: 0, now: Self.after(1), timeout: Self.timeout)
        #expect(state == .empty && !meter.mayHaveOutput)
    }

    @Test("reports only the write after which it has to be watched")
    func firstWrite() {
        var meter = OutputMeter(now: Self.start)
        let reports = [meter.write(1, now: Self.start), meter.write(1, now: Self.after(1))]
        #expect(reports == [true, false])
        _ = meter.check(unsentByteCount: 0, now: Self.after(2), timeout: Self.timeout)
        let again = meter.write(1, now: Self.after(3))
        #expect(again && meter.waitingSince == Self.after(3))
    }

    @Test("reports a client as stalled that receives nothing for the whole timeout, and not before")
    func stalled() {
        var meter = OutputMeter(now: Self.start)
        _ = meter.write(100, now: Self.after(5))
        var states: [OutputMeter.State] = []
        for second in [6, 34, 35] {
            states.append(meter.check(unsentByteCount: 100, now: Self.after(Int64(second)), timeout: Self.timeout))
        }
        #expect(states == [.moving, .moving, .stalled])
    }

    @Test("restarts the timeout when a client receives a single byte")
    func slow() {
        var meter = OutputMeter(now: Self.start)
        _ = meter.write(100, now: Self.start)
        let taken = meter.check(unsentByteCount: 99, now: Self.after(29), timeout: Self.timeout)
        let before = meter.check(unsentByteCount: 99, now: Self.after(58), timeout: Self.timeout)
        let after = meter.check(unsentByteCount: 99, now: Self.after(59), timeout: Self.timeout)
        #expect([taken, before, after] == [.moving, .moving, .stalled])
    }

    @Test("does not count further writes as progress of the client")
    func furtherWrites() {
        var meter = OutputMeter(now: Self.start)
        _ = meter.write(100, now: Self.start)
        _ = meter.write(100, now: Self.after(20))
        let state = meter.check(unsentByteCount: 200, now: Self.after(30), timeout: Self.timeout)
        #expect(state == .stalled)
    }
}
