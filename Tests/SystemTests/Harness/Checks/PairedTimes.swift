// Whether two kinds of calls take the same time.
import Foundation

/// The times of calls with known and with unknown names, in pairs, because the machine's speed varies from second to
/// second. The order within a pair alternates, because the node's work after one call delays the next.
struct PairedTimes: CustomStringConvertible {
    /// Pairs of times in milliseconds.
    private(set) var times: [(known: Double, unknown: Double)] = []

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

    /// The median of the pairs' ratios, known divided by unknown.
    var ratio: Double { times.map { $0.known / $0.unknown }.sorted()[times.count / 2] }

    var description: String { "\(times) ms" }
}
