// The result of a run, for people and for programs.
import CommandLineFlags
import Domain

/// Figures in reading order, with units last in their names, notes about them, and the faults.
package struct Report: Sendable {
    /// Sentences: which figures are missing or inexact, and why.
    package private(set) var notes: [String] = []
    /// Phrases; empty when the run was correct.
    package var faults: [String] = []
    private var members: [JSONValue.Member] = []

    package init(_ workload: String) { add("workload", .string(workload)) }

    package mutating func add(_ name: String, _ value: JSONValue) { members.append(.init(name, value)) }
    package mutating func add(_ name: String, _ value: Int) { add(name, .integer(value)) }
    package mutating func add(_ name: String, _ value: Double, digits: Int) { add(name, .decimal(value, digits)) }

    mutating func add(_ more: [JSONValue.Member]) { members += more }

    /// Notes that the report has already are dropped.
    package mutating func note(_ sentences: [String]) {
        for sentence in sentences where !notes.contains(sentence) { notes.append(sentence) }
    }

    /// One JSON object on one line.
    package var json: String {
        let all =
            members + [
                .init("notes", .array(notes.map(JSONValue.string))),
                .init("faults", .array(faults.map(JSONValue.string))),
            ]
        return JSONValue.object(all).compactText.string
    }

    /// One line per figure. A group of plain figures is on one line.
    package var text: String {
        var lines: [String] = []
        for member in members { Self.write(member, indent: "", to: &lines) }
        lines += notes.map { "note: \($0)" }
        lines += faults.map { "FAULT: \($0)" }
        return lines.joined(separator: "\n")
    }

    private static func write(_ member: JSONValue.Member, indent: String, to lines: inout [String]) {
        let name = indent + member.key.padded(to: 28 - indent.count)
        switch member.value {
        case .object(let inner) where inner.allSatisfy { $0.value.object == nil && $0.value.array == nil }:
            lines.append(name + inner.map { "\($0.key) \(plain($0.value))" }.joined(separator: "   "))
        case .object(let inner):
            lines.append(indent + member.key)
            for member in inner { write(member, indent: indent + "  ", to: &lines) }
        case .array(let items) where items.contains { $0.object != nil }:
            for (index, item) in items.enumerated() {
                write(.init("\(member.key) \(index + 1)", item), indent: indent, to: &lines)
            }
        case .array(let items): lines.append(name + items.map(plain).joined(separator: "   "))
        default: lines.append(name + plain(member.value))
        }
    }

    private static func plain(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): text
        case .number(let number): number.text
        case .bool(let isTrue): isTrue ? "yes" : "no"
        case .null: "not known"
        case .object, .array: value.compactText.string
        }
    }
}

extension JSONValue {
    /// Rounded to `digits` after the point.
    static func decimal(_ value: Double, _ digits: Int) -> JSONValue {
        guard value.isFinite else { return .null }
        return .number(JSONNumber(text: fixed(value, digits)))
    }

    /// Returns null for nil.
    static func decimal(orNull value: Double?, _ digits: Int) -> JSONValue {
        value.map { .decimal($0, digits) } ?? .null
    }
}

/// A number with `digits` after the point.
func fixed(_ value: Double, _ digits: Int) -> String {
    let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
    let whole = Int64((abs(value) * scale).rounded())
    let text = String(whole)
    let padded = String(repeating: "0", count: max(0, digits + 1 - text.count)) + text
    let sign = value < 0 && whole > 0 ? "-" : ""
    return digits == 0 ? sign + padded : sign + padded.dropLast(digits) + "." + padded.suffix(digits)
}

/// The median; of an even count the mean of the middle two.
func median(_ values: [Double]) -> Double? {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
}
