// A strict parser of the Prometheus text format 0.0.4. Every scraper accepts the pages that it accepts. It rejects pages
// that many scrapers tolerate.

/// A valid page of metrics, or the reason why the text is invalid.
package struct PrometheusPage {
    package struct Sample: Equatable {
        package let name: String
        package let labels: [String: String]
        package let value: Double
    }

    package struct Family {
        package let name: String
        package var type = ""
        package var help = ""
        package var samples: [Sample] = []
    }

    package struct Mistake: Error, CustomStringConvertible {
        package let description: String
    }

    package private(set) var families: [String: Family] = [:]

    package init(_ text: String) throws {
        guard text.isEmpty || text.hasSuffix("\n") else { throw Mistake(description: "the last line has no end") }
        var current: Family?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            if let help = line.wholeMatch(of: /# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)/) {
                try close(current)
                current = Family(name: String(help.1), help: String(help.2))
            } else if let type = line.wholeMatch(of: /# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)/) {
                guard current?.name == String(type.1), current?.type == "" else {
                    throw Mistake(description: "out of place: \(line)")
                }
                current?.type = String(type.2)
            } else {
                guard let type = current?.type, type != "" else { throw Mistake(description: "of no family: \(line)") }
                current?.samples.append(try Self.sample(line))
            }
        }
        try close(current)
    }

    private mutating func close(_ family: Family?) throws {
        guard let family else { return }
        guard families[family.name] == nil else { throw Mistake(description: "\(family.name) comes twice") }
        try Self.check(family)
        families[family.name] = family
    }

    private static func sample(_ line: Substring) throws -> Sample {
        guard let match = line.wholeMatch(of: /([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([^ ]+)/) else {
            throw Mistake(description: "no sample: \(line)")
        }
        let values = ["+Inf": Double.infinity, "-Inf": -.infinity, "NaN": .nan]
        guard let value = values[String(match.3)] ?? Double(match.3) else {
            throw Mistake(description: "no number: \(line)")
        }
        return Sample(name: String(match.1), labels: try labels(match.2 ?? "", line), value: value)
    }

    private static func labels(_ text: Substring, _ line: Substring) throws -> [String: String] {
        var labels: [String: String] = [:]
        var rest = text
        while !rest.isEmpty {
            guard let match = rest.prefixMatch(of: /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(?:,(?=.)|$)/),
                labels.updateValue(String(match.2), forKey: String(match.1)) == nil
            else { throw Mistake(description: "bad labels: \(line)") }
            rest = rest[match.range.upperBound...]
        }
        return labels
    }

    private static func check(_ family: Family) throws {
        func fail(_ what: String) throws -> Never { throw Mistake(description: "\(family.name): \(what)") }
        guard family.type != "" else { try fail("has no type") }
        let keys = family.samples.map { "\($0.name)\($0.labels.sorted { $0.key < $1.key })" }
        guard Set(keys).count == keys.count else { try fail("a sample comes twice") }
        guard family.type == "histogram" else {
            if family.samples.contains(where: { $0.name != family.name }) { try fail("has a sample of another name") }
            if family.type == "counter" {
                guard family.name.hasSuffix("_total") else { try fail("a counter's name ends in _total") }
                if family.samples.contains(where: { !($0.value >= 0) }) { try fail("is below zero") }
            }
            return
        }
        try checkHistogram(family, fail)
    }

    private static func checkHistogram(_ family: Family, _ fail: (String) throws -> Never) throws {
        let series = Dictionary(grouping: family.samples) { sample in
            sample.labels.filter { $0.key != "le" }.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        }
        for (_, samples) in series {
            let buckets = samples.filter { $0.name == family.name + "_bucket" }
            let bounds = buckets.map { $0.labels["le"] == "+Inf" ? .infinity : Double($0.labels["le"] ?? "") ?? .nan }
            let counts = buckets.map(\.value)
            guard bounds.last == .infinity, zip(bounds, bounds.dropFirst()).allSatisfy({ $0 < $1 }) else {
                try fail("bounds must rise to +Inf: \(bounds)")
            }
            guard zip(counts, counts.dropFirst()).allSatisfy({ $0 <= $1 }) else { try fail("counts must rise") }
            guard samples.filter({ $0.name == family.name + "_count" }).map(\.value) == [counts.last ?? -1] else {
                try fail("the count is the last bucket's")
            }
            guard samples.count == buckets.count + 2, samples.contains(where: { $0.name == family.name + "_sum" })
            else { try fail("has one sum, and nothing else") }
        }
    }
}
