// Counting values by size.
import Testing

@testable import Telemetry

@Suite("A histogram", .timeLimit(.minutes(1)))
struct Histograms {
    @Test("counts a value in the first bucket whose bound it does not exceed")
    func bounds() {
        let histogram = Histogram(.items)
        for value in [0, 1, 2, 3, 4, 512, 513, 100_000] { histogram.record(value) }
        let values = histogram.values
        #expect(values.counts == [2, 1, 2, 0, 0, 0, 0, 0, 0, 1, 2])
        #expect(values.count == 8)
        #expect(values.sum == 101_035)
    }

    @Test("counts durations to the nanosecond, and a negative duration as zero")
    func durations() {
        let histogram = Histogram(.seconds)
        histogram.record(.milliseconds(3))
        histogram.record(.seconds(-5))
        #expect(histogram.values.sum == 3_000_000)
        #expect(histogram.values.counts[0] == 1)
        #expect(Duration.seconds(3).nanoseconds == 3_000_000_000)
        #expect((Duration.seconds(40_000_000) + .nanoseconds(7)).nanoseconds == 40_000_000_000_000_007)
    }

    @Test("keeps counting when its sum overflows: the sum wraps around")
    func overflow() {
        let histogram = Histogram(.items)
        histogram.record(.max)
        histogram.record(3)
        #expect(histogram.values.sum == .min + 2)
        #expect(histogram.values.count == 2)
    }

    @Test("has ascending bounds")
    func ascending() {
        for buckets in [Histogram.Buckets.seconds, .items] { #expect(buckets.bounds == buckets.bounds.sorted()) }
    }

    @Test("loses nothing that many threads record at once")
    func concurrent() async {
        let histogram = Histogram(.items)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { for value in 0..<10_000 { histogram.record(value % 5) } } }
        }
        #expect(histogram.values.count == 80_000)
        #expect(histogram.values.sum == 160_000)
    }
}
