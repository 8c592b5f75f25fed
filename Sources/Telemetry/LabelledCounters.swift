// Counters of one metric, one for each value of a label.

/// A counter for each case of a closed set. The raw values are the values of the label. From any thread.
package struct LabelledCounters<Label: CaseIterable & Hashable & RawRepresentable<String> & Sendable>: Sendable {
    private let counters: [Label: Counter]

    package init() {
        counters = Dictionary(uniqueKeysWithValues: Label.allCases.map { ($0, Counter()) })
    }

    package func add(_ label: Label, _ number: Int = 1) { counters[label]?.add(number) }

    package subscript(label: Label) -> Int { counters[label]?.value ?? 0 }

    /// For `MetricsText.counter`: all cases in their order.
    package func samples(_ name: StaticString) -> [(labels: MetricsText.Labels, value: Int)] {
        Label.allCases.map { (labels: [(name, $0.rawValue)], value: self[$0]) }
    }
}
