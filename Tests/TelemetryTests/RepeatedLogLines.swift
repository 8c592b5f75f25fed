// Which log lines are written when the same thing happens again and again.
import TestSupport
import Testing

@testable import Telemetry

@Suite("Repeated log lines", .timeLimit(.minutes(1)))
struct RepeatedLogLines {
    private let start = ContinuousClock.now

    @Test("are written once a minute, with the number of repetitions")
    func counts() {
        var repetitions = Repetitions()
        #expect(repetitions.add("a", now: start) == 1)
        for second in 1..<60 { #expect(repetitions.add("a", now: start + .seconds(second)) == nil) }
        #expect(repetitions.add("a", now: start + .seconds(60)) == 60)
        #expect(repetitions.add("a", now: start + .seconds(61)) == nil)
    }

    @Test("do not hide other lines")
    func others() {
        var repetitions = Repetitions()
        #expect(repetitions.add("a", now: start) == 1)
        #expect(repetitions.add("b", now: start) == 1)
        #expect(repetitions.add("a", now: start) == nil)
    }

    @Test("are forgotten when there are more than a hundred different ones")
    func bound() {
        var repetitions = Repetitions()
        for number in 0...Repetitions.keyCountMax { #expect(repetitions.add("\(number)", now: start) == 1) }
        #expect(repetitions.add("0", now: start) == 1)
        #expect(repetitions.add("\(Repetitions.keyCountMax)", now: start) == nil)
    }

    @Test("have their level, their reason and the log's metadata")
    func lines() {
        let lines = LogLines()
        let log = RateLimitedLog(lines.logger, metadata: ["platform": "fcm"])
        for _ in 1...3 { log.warning("sending failed", reason: "timeout") }
        log.info("sending works")
        #expect(lines.all.count == 2)
        #expect(lines.all[0].hasPrefix("warning: sending failed "))
        for part in ["platform", "fcm", "reason", "timeout", "count"] { #expect(lines.all[0].contains(part)) }
        #expect(lines.all[1].hasPrefix("info: sending works "))
    }
}
