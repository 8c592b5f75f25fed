// How values spread: counted by size, in buckets that never change, as Prometheus' histograms are.

/// Counts values by size. Any thread may record: two relaxed additions, no lock, no allocation, about 20 ns.
package final class Histogram: Sendable {
    package let buckets: Buckets
    /// One a bucket, the last for what is above all bounds.
    private let counts: [Counter]
    private let sum = Counter()

    package init(_ buckets: Buckets) {
        self.buckets = buckets
        counts = (0...buckets.bounds.count).map { _ in Counter() }
    }

    /// - Parameter value: in the buckets' unit.
    package func record(_ value: Int) {
        counts[buckets.index(of: value)].add()
        sum.add(value)
    }

    /// For buckets of time. A clock that was set back gives no negative durations: they count as none.
    package func record(_ duration: Duration) { record(max(0, duration.nanoseconds)) }

    /// What has been recorded so far. Values that are recorded meanwhile may be in the sum and not yet in a bucket.
    package var values: Values { Values(buckets: buckets, counts: counts.map(\.value), sum: sum.value) }
}

extension Histogram {
    /// Upper bounds, ascending; a value that equals one is in its bucket.
    package struct Buckets: Sendable {
        package let bounds: [Int]
        /// How many of the recorded unit make one of the unit that is shown.
        package let unit: Int

        init(_ bounds: [Int], unit: Int = 1) {
            self.bounds = bounds
            self.unit = unit
        }

        /// Nanoseconds, shown as seconds: from a request answered out of memory to one that waited for a database's
        /// return.
        package static let seconds = Buckets(
            [
                50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000,
                100_000_000, 250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
            ], unit: 1_000_000_000)

        /// Items of a batch.
        package static let items = Buckets([1, 2, 4, 8, 16, 32, 64, 128, 256, 512])

        /// From the smallest on: most of what is recorded is small.
        func index(of value: Int) -> Int {
            var index = 0
            while index < bounds.count, value > bounds[index] { index += 1 }
            return index
        }
    }

    /// A histogram at one moment.
    package struct Values: Sendable {
        package let buckets: Buckets
        /// One a bucket, each without those below it.
        package let counts: [Int]
        /// Of all values, in the recorded unit.
        package let sum: Int

        package var count: Int { counts.reduce(0, +) }
    }
}

extension Duration {
    /// Whole ones; exact for 292 years.
    package var nanoseconds: Int { Int(truncatingIfNeeded: attoseconds / 1_000_000_000) }
}
