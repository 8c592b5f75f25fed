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
            if let (name, help) = Self.words(of: line, after: "# HELP ") {
                try close(current)
                current = Family(name: name, help: help)
            } else if let (name, type) = Self.words(of: line, after: "# TYPE ") {
                guard current?.name == name, current?.type == "", ["counter", "gauge", "histogram"].contains(type)
                else {
                    throw Mistake(description: "out of place: \(line)")
                }
                current?.type = type
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

    // No regular expressions: a page has thousands of lines, and tests read it again and again until a counter moves.

    /// A metric's name and the text behind it, on a line that begins with `start`.
    private static func words(of line: Substring, after start: String) -> (name: String, text: String)? {
        guard line.hasPrefix(start) else { return nil }
        let parts = line.dropFirst(start.count).split(separator: " ", maxSplits: 1)
        guard parts.count == 2, isName(parts[0]) else { return nil }
        return (String(parts[0]), String(parts[1]))
    }

    private static func isName(_ text: Substring, mayHaveColons: Bool = true) -> Bool {
        let colon = UInt8(ascii: ":")
        func mayBegin(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
            default: byte == colon && mayHaveColons
            }
        }
        return text.utf8.first.map(mayBegin) == true
            && text.utf8.allSatisfy { mayBegin($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// Reads `name{label="value"} 1` or `name 1`.
    private static func sample(_ line: Substring) throws -> Sample {
        guard let space = line.lastIndex(of: " ") else { throw Mistake(description: "no sample: \(line)") }
        let (series, number) = (line[..<space], line[line.index(after: space)...])
        let brace = series.firstIndex(of: "{") ?? series.endIndex
        let (name, labels) = (series[..<brace], series[brace...])
        guard isName(name), labels.isEmpty || labels.hasSuffix("}") else {
            throw Mistake(description: "no sample: \(line)")
        }
        let values = ["+Inf": Double.infinity, "-Inf": -.infinity, "NaN": .nan]
        guard let value = values[String(number)] ?? Double(number) else {
            throw Mistake(description: "no number: \(line)")
        }
        return Sample(name: String(name), labels: try Self.labels(labels.dropFirst().dropLast(), line), value: value)
    }

    /// Reads `label="value",label="value"`. In a value a backslash precedes a quotation mark, a backslash or an n.
    private static func labels(_ text: Substring, _ line: Substring) throws -> [String: String] {
        let bad = Mistake(description: "bad labels: \(line)")
        var labels: [String: String] = [:]
        var rest = text.utf8
        while !rest.isEmpty {
            guard let equals = rest.firstIndex(of: UInt8(ascii: "=")) else { throw bad }
            let name = Substring(rest[..<equals])
            guard isName(name, mayHaveColons: false) else { throw bad }
            rest = rest[equals...].dropFirst()
            guard rest.popFirst() == UInt8(ascii: "\"") else { throw bad }
            let start = rest.startIndex
            while let byte = rest.first, byte != UInt8(ascii: "\"") {
                rest.removeFirst()
                if byte == UInt8(ascii: "\\") {
                    guard let next = rest.popFirst(), "\"\\n".utf8.contains(next) else { throw bad }
                }
            }
            let value = String(text[start..<rest.startIndex])
            guard rest.popFirst() != nil, labels.updateValue(value, forKey: String(name)) == nil else { throw bad }
            // Another label follows each comma.
            if !rest.isEmpty { guard rest.popFirst() == UInt8(ascii: ","), !rest.isEmpty else { throw bad } }
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
