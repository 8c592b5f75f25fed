// A writer of the Prometheus text format, version 0.0.4. Each part writes its own metrics with it.

/// A page of metrics. Each family is added once, with all its samples.
package struct MetricsText {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// Distinguish the samples of a family, in the given order. Values come from closed sets.
    package typealias Labels = [(name: StaticString, value: String)]

    package private(set) var text = ""

    package init() { text.reserveCapacity(32 * 1024) }

    package mutating func counter(_ name: StaticString, _ help: String, _ value: Int) {
        counter(name, help, [([], value)])
    }

    package mutating func counter(
        _ name: StaticString, _ help: String, _ samples: [(labels: Labels, value: Int)]
    ) {
        begin(name, "counter", help)
        for sample in samples { add(name, "", sample.labels, "\(sample.value)") }
    }

    package mutating func gauge(_ name: StaticString, _ help: String, _ value: Int) {
        gauge(name, help, [([], Double(value))])
    }

    package mutating func gauge(
        _ name: StaticString, _ help: String, _ samples: [(labels: Labels, value: Double)]
    ) {
        begin(name, "gauge", help)
        for sample in samples { add(name, "", sample.labels, Self.number(sample.value)) }
    }

    /// Appends a counter that is not a whole number.
    package mutating func counter(_ name: StaticString, _ help: String, _ value: Double) {
        begin(name, "counter", help)
        add(name, "", [], Self.number(value))
    }

    package mutating func histogram(
        _ name: StaticString, _ help: String, _ samples: [(labels: Labels, values: Histogram.Values)]
    ) {
        begin(name, "histogram", help)
        for (labels, values) in samples {
            let unit = Double(values.buckets.unit)
            var count = 0
            for (index, inBucket) in values.counts.enumerated() {
                count += inBucket
                let bounds = values.buckets.bounds
                let bound = index < bounds.count ? Self.number(Double(bounds[index]) / unit) : "+Inf"
                add(name, "_bucket", labels + [("le", bound)], "\(count)")
            }
            add(name, "_sum", labels, Self.number(Double(values.sum) / unit))
            add(name, "_count", labels, "\(count)")
        }
    }

    package mutating func histogram(_ name: StaticString, _ help: String, _ values: Histogram.Values) {
        histogram(name, help, [([], values)])
    }

    private mutating func begin(_ name: StaticString, _ type: StaticString, _ help: String) {
        text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(type)\n"
    }

    private mutating func add(_ name: StaticString, _ suffix: StaticString, _ labels: Labels, _ value: String) {
        text += "\(name)\(suffix)"
        var separator = "{"
        for label in labels {
            text += "\(separator)\(label.name)=\"\(Self.escaped(label.value, quotes: true))\""
            separator = ","
        }
        text += labels.isEmpty ? " \(value)\n" : "} \(value)\n"
    }

    /// Whole numbers without a fraction, as other exporters write them.
    private static func number(_ value: Double) -> String {
        Int(exactly: value).map(String.init) ?? "\(value)"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        guard
            text.utf8.contains(where: {
                $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\"")
            })
        else { return text }
        let escaped = text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
        return quotes ? escaped.replacing("\"", with: "\\\"") : escaped
    }
}
