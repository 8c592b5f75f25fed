// Faults of a run, counted, because the same fault may come with every answer.

/// Faults as phrases, with how often each occurred.
struct Faults: Sendable {
    private var counts: [String: Int] = [:]

    var isEmpty: Bool { counts.isEmpty }

    mutating func record(_ what: String, times: Int = 1) { counts[what, default: 0] += times }

    mutating func add(_ other: Faults) { counts.merge(other.counts, uniquingKeysWith: +) }

    /// The phrases of the report, in alphabetical order.
    var phrases: [String] { counts.sorted { $0.key < $1.key }.map { "\($0.value) times: \($0.key)" } }
}
