// Counters of one metric, one for each value of a label.

/// A counter for each case of a closed set. The raw values are the values of the label. From any thread.
package struct LabelledCounters<Label: CaseIterable & Hashable & RawRepresentable<String> & Sendable>: Metric {
    private let counters: [Label: Counter]
    private let name: MetricName
    private let label: StaticString

    package init(_ name: StaticString, _ help: String, by label: StaticString) {
        counters = Dictionary(uniqueKeysWithValues: Label.allCases.map { ($0, Counter()) })
        self.name = MetricName(name, help)
        self.label = label
    }

    package func add(_ label: Label, _ number: Int = 1) { counters[label]?.add(number) }

    package subscript(label: Label) -> Int { counters[label]?.value ?? 0 }

    /// Shows all cases in their order.
    package func write(to text: inout MetricsText) {
        text.counter(name.name, name.help, Label.allCases.map { ([(label, $0.rawValue)], self[$0]) })
    }
}
