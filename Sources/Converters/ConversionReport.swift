// What a conversion wrote, what it changed, and what it left out: counts by reason, each with examples.
import Domain

package struct ConversionReport: Sendable, Equatable {
    package static let exampleCountMax = 20
    static let exampleByteCountMax = 200

    /// One reason, with how often it applied.
    package struct Entry: Sendable, Equatable {
        package var reason: String
        package var count = 0
        package var examples: [String] = []
    }

    package let system: ChatSystem
    /// Lines by type.
    package internal(set) var written: [Written] = []
    /// What is in the export and not in the archive.
    package private(set) var leftOut: [Entry] = []
    /// What the archive has in another form than the export.
    package private(set) var changed: [Entry] = []

    package struct Written: Sendable, Equatable {
        package var type: String
        package var count: Int
    }

    init(system: ChatSystem) { self.system = system }

    mutating func leaveOut(_ reason: String, _ example: String, count: Int = 1) {
        Self.add(reason, example, count, to: &leftOut)
    }

    mutating func change(_ reason: String, _ example: String, count: Int = 1) {
        Self.add(reason, example, count, to: &changed)
    }

    private static func add(_ reason: String, _ example: String, _ count: Int, to entries: inout [Entry]) {
        guard count > 0 else { return }
        let index =
            entries.firstIndex { $0.reason == reason }
            ?? {
                entries.append(Entry(reason: reason))
                return entries.count - 1
            }()
        entries[index].count += count
        if entries[index].examples.count < exampleCountMax, !example.isEmpty {
            entries[index].examples.append(example.prefix(byteCountMax: exampleByteCountMax))
        }
    }
}

extension ConversionReport {
    /// The report as a JSON object.
    package var json: JSONValue {
        .object([
            .init("system", .string(system.rawValue)),
            .init("written", .object(written.map { .init($0.type, .integer($0.count)) })),
            .init("left_out", .array(leftOut.map(\.json))),
            .init("changed", .array(changed.map(\.json))),
        ])
    }

    /// The report for people: one reason a line, its examples below.
    package var text: String {
        let lines = written.map { "\($0.count) \($0.type)" }.joined(separator: ", ")
        return "Converted from \(system.rawValue): \(lines).\n"
            + Self.section("Left out", leftOut, none: "Nothing was left out.")
            + Self.section("Changed", changed, none: "Nothing was changed.")
    }

    private static func section(_ title: String, _ entries: [Entry], none: String) -> String {
        guard !entries.isEmpty else { return none + "\n" }
        var text = "\(title):\n"
        for entry in entries {
            text += "  \(entry.count) × \(entry.reason)\n"
            for example in entry.examples { text += "      \(example.showable)\n" }
            if entry.count > entry.examples.count, !entry.examples.isEmpty { text += "      …\n" }
        }
        return text
    }
}

extension ConversionReport.Entry {
    fileprivate var json: JSONValue {
        .object([
            .init("reason", .string(reason)), .init("count", .integer(count)),
            .init("examples", .array(examples.map(JSONValue.string))),
        ])
    }
}
