// The distribution of values: counted by size in fixed buckets, as Prometheus has it.

/// Counts values by size. Any thread may record: two relaxed additions, no lock, no allocation, about 20 ns.
package final class Histogram: Metric {
    package let buckets: Buckets
    private let name: MetricName?
    /// One for each bucket; the last counts values above all bounds.
    private let counts: [Counter]
    private let sum = Counter()

    /// A histogram that is shown together with others.
    package convenience init(_ buckets: Buckets) { self.init(buckets, name: nil) }

    package convenience init(_ name: StaticString, _ help: String, _ buckets: Buckets = .seconds) {
        self.init(buckets, name: MetricName(name, help))
    }

    private init(_ buckets: Buckets, name: MetricName?) {
        self.buckets = buckets
        self.name = name
        counts = (0...buckets.bounds.count).map { _ in Counter() }
    }

    /// - Parameter value: in the buckets' unit.
    package func record(_ value: Int) {
        counts[buckets.index(of: value)].add()
        sum.add(value)
    }

    /// For buckets of time. A negative duration, after a clock was set back, counts as zero.
    package func record(_ duration: Duration) { record(max(0, duration.nanoseconds)) }

    /// The values recorded so far. A value recorded at the same time may be in the sum and not yet in a bucket.
    package var values: Values { Values(buckets: buckets, counts: counts.map(\.value), sum: sum.value) }

    package func write(to text: inout MetricsText) {
        if let name { text.histogram(name.name, name.help, values) }
    }
}

extension Histogram {
    /// Upper bounds, ascending. A value equal to a bound is in its bucket.
    package struct Buckets: Sendable {
        package let bounds: [Int]
        /// How many recorded units make one displayed unit.
        package let unit: Int

        init(_ bounds: [Int], unit: Int = 1) {
            self.bounds = bounds
            self.unit = unit
        }

        /// Nanoseconds, displayed as seconds: from a request answered from memory to one that waited for the database's
        /// return.
        package static let seconds = Buckets(
            [
                50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000,
                100_000_000, 250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
            ], unit: 1_000_000_000)

        /// Items of a batch.
        package static let items = Buckets([1, 2, 4, 8, 16, 32, 64, 128, 256, 512])

        /// Searches from the smallest bucket on, because most values are small.
        func index(of value: Int) -> Int {
            var index = 0
            while index < bounds.count, value > bounds[index] { index += 1 }
            return index
        }
    }

    /// A histogram at one moment.
    package struct Values: Sendable {
        package let buckets: Buckets
        /// One for each bucket, without those of the buckets below.
        package let counts: [Int]
        /// The sum of all values, in the recorded unit.
        package let sum: Int

        package var count: Int { counts.reduce(0, +) }
    }
}

extension Duration {
    /// Whole nanoseconds; exact for 292 years.
    package var nanoseconds: Int { Int(truncatingIfNeeded: attoseconds / 1_000_000_000) }
}
