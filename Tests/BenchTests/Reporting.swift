// Results, and how they are printed.
import Domain
import Testing

@testable import Bench

@Suite("Reporting", .timeLimit(.minutes(1)))
struct Reporting {
    private var report: Report {
        var report = Report("send")
        report.add("messages_per_s", 15_230.4, digits: 0)
        report.add("answer_ms", .object([.init("p50", .decimal(1.2345, 3)), .init("max", .null)]))
        report.add("round", .array([.object([.init("ratio", .decimal(3, 2))])]))
        report.note(["WAL: left out.", "WAL: left out."])
        report.faults = ["1 message was lost"]
        return report
    }

    @Test("is one JSON object with everything in it")
    func json() {
        #expect(
            report.json == """
                {"workload":"send","messages_per_s":15230,"answer_ms":{"p50":1.235,"max":null},\
                "round":[{"ratio":3.00}],"notes":["WAL: left out."],"faults":["1 message was lost"]}
                """)
    }

    @Test("is one line per figure for people, with notes and faults last")
    func text() {
        let lines = report.text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(
            lines == [
                "workload send", "messages_per_s 15230", "answer_ms p50 1.235 max not known", "round 1 ratio 3.00",
                "note: WAL: left out.", "FAULT: 1 message was lost",
            ])
    }

    @Test(
        "rounds to the requested number of digits",
        arguments: [
            (1.005, 1, "1.0"), (0.06, 1, "0.1"), (-0.04, 1, "0.0"), (-12.345, 2, "-12.35"), (7, 0, "7"),
            (99.96, 1, "100.0"),
        ])
    func rounding(value: Double, digits: Int, text: String) {
        #expect(fixed(value, digits) == text)
    }

    @Test("finds the median")
    func middle() {
        #expect(median([]) == nil)
        #expect(median([3, 1, 2]) == 2)
        #expect(median([4, 1, 2, 3]) == 2.5)
    }

    @Test("returns percentiles of times to three digits, and none without times")
    func percentiles() throws {
        var latencies = Latencies()
        #expect(latencies.ms(50) == nil && latencies.maxMs == nil)
        for milliseconds in 1...1000 { latencies.record(nanoseconds: Int64(milliseconds) * 1_000_000) }
        latencies.record(nanoseconds: .max)
        #expect(abs(try #require(latencies.ms(50)) - 501) < 1)
        #expect(abs(try #require(latencies.ms(99)) - 991) < 1)
        #expect(try #require(latencies.maxMs) > 119_000)
    }
}

@Suite("Recording a fan-out", .timeLimit(.minutes(1)))
struct RecordingAFanout {
    private func moment(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    @Test("measures a message until its last member has it, in any order, and skips the warm-up message")
    func times() throws {
        let recorder = FanoutRecorder(memberCount: 3)
        recorder.began(0, at: moment(0))
        for at in [50, 60, 70] { recorder.arrived(0, at: moment(Int64(at))) }
        #expect(recorder.completeCount == 0)
        #expect(recorder.lastMs == 70)

        recorder.began(1, at: moment(100))
        recorder.began(2, at: moment(200))
        for (number, at) in [(1, 130), (2, 204), (1, 110), (2, 203), (1, 120)] {
            recorder.arrived(number, at: moment(Int64(at)))
        }
        #expect(recorder.completeCount == 1)
        let figures = recorder.latencies
        #expect(abs(try #require(figures.last.ms(50)) - 30) < 0.1)
        #expect(abs(try #require(figures.middle.ms(50)) - 20) < 0.1)
        #expect(figures.all.count == 3)
    }
}

@Suite("Keeping what was acknowledged", .timeLimit(.minutes(1)))
struct KeepingAcknowledged {
    @Test("records each number once")
    func numbers() {
        var set = SeqSet()
        for seq in [Int64(1), 64, 63, 65, 100_000] {
            let isNew = set.insert(seq)
            let isNewAgain = set.insert(seq)
            #expect(isNew && !isNewAgain)
        }
        #expect(set.count == 5)
        #expect(set.max == 100_000)
    }
}

@Suite("Work by its time", .timeLimit(.minutes(1)))
struct WorkByItsTime {
    @Test("runs in the order of its times, at equal times in the order added, and never early")
    func order() {
        var queue = TimerQueue()
        var done: [Int] = []
        let order = [5, 3, 9, 3, 1, 7, 3]
        for (index, at) in order.enumerated() {
            queue.add(MonotonicTime(nanoseconds: Int64(at) * 1_000_000)) { done.append(at * 10 + index) }
        }
        #expect(queue.waitMs(at: MonotonicTime(nanoseconds: 0)) == 1)
        #expect(queue.waitMs(at: MonotonicTime(nanoseconds: 999_999)) == 1)
        while let work = queue.next(at: MonotonicTime(nanoseconds: 7_000_000)) { work() }
        #expect(done == [14, 31, 33, 36, 50, 75])
        #expect(queue.waitMs(at: MonotonicTime(nanoseconds: 7_000_000)) == 2)
    }
}
