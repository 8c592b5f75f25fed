// What a run finds wrong, counted: the same fault may come with every answer.

/// Faults, as phrases, and how often each.
struct Faults: Sendable {
    private var counts: [String: Int] = [:]

    var isEmpty: Bool { counts.isEmpty }

    mutating func note(_ what: String, times: Int = 1) { counts[what, default: 0] += times }

    mutating func add(_ other: Faults) { counts.merge(other.counts, uniquingKeysWith: +) }

    /// For the report, in the alphabet's order.
    var phrases: [String] { counts.sorted { $0.key < $1.key }.map { "\($0.value) times \($0.key)" } }
}
