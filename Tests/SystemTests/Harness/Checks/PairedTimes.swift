// Whether two kinds of calls take the same time.
import Foundation

/// The times of calls with known and with unknown names, in pairs, because the machine's speed varies from second to
/// second. The order within a pair alternates, because the node's work after one call delays the next.
struct PairedTimes: CustomStringConvertible {
    /// Pairs of times in milliseconds.
    private var times: [(known: Double, unknown: Double)] = []

    /// Measures `count` pairs.
    init<Ignored>(
        _ count: Int, _ call: (_ isKnown: Bool, _ index: Int) async throws -> Ignored
    ) async throws {
        for index in 0..<count {
            var time = (known: 0.0, unknown: 0.0)
            for isKnown in [index % 2 == 0, index % 2 != 0] {
                let began = ContinuousClock.now
                _ = try await call(isKnown, index)
                let taken = began.duration(to: .now).seconds * 1_000
                if isKnown { time.known = taken } else { time.unknown = taken }
            }
            times.append(time)
        }
    }

    /// The signed ranks of the pairs' differences (Wilcoxon) as a normal deviate: positive if known names take longer.
    /// Equal kinds exceed 4.5 once in 150,000 measurements, on a busy machine too, because ranks know no outliers.
    var deviation: Double {
        let differences = times.map { $0.known - $0.unknown }.sorted { abs($0) < abs($1) }
        let sum = zip(1..., differences).reduce(0.0) { $0 + ($1.1 < 0 ? -Double($1.0) : Double($1.0)) }
        let count = Double(times.count)
        return sum / (count * (count + 1) * (2 * count + 1) / 6).squareRoot()
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    var description: String {
        let (known, unknown) = (Self.median(times.map(\.known)), Self.median(times.map(\.unknown)))
        return String(format: "medians %.3f ms known, %.3f ms unknown, deviation %.1f", known, unknown, deviation)
    }
}
