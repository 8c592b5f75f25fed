// Compares two archives line by line.

/// What one archive has and another lacks. The lines `archive` and `end` are not compared: they name the time and the
/// digest of their own file.
package struct ArchiveComparison: Sendable, CustomStringConvertible {
    private static let lineCountMax = 20

    package let onlyInFirst: [Substring]
    package let onlyInSecond: [Substring]
    /// Whether both have the same lines in another order.
    package let isReordered: Bool

    package init(_ first: String, _ second: String) {
        let (one, other) = (Self.lines(first), Self.lines(second))
        onlyInFirst = Self.difference(one, other)
        onlyInSecond = Self.difference(other, one)
        isReordered = onlyInFirst.isEmpty && onlyInSecond.isEmpty && one != other
    }

    package var isEqual: Bool { onlyInFirst.isEmpty && onlyInSecond.isEmpty && !isReordered }

    /// Says what differs.
    package var description: String {
        if isEqual { return "The archives are equal." }
        if isReordered { return "The archives have the same lines in another order." }
        return Self.text("only in the first", onlyInFirst) + Self.text("only in the second", onlyInSecond)
    }

    private static func lines(_ archive: String) -> [Substring] {
        archive.split(separator: "\n").filter {
            !$0.hasPrefix(#"{"type":"archive","#) && !$0.hasPrefix(#"{"type":"end","#)
        }
    }

    /// The lines of `one` that `other` lacks or has fewer times.
    private static func difference(_ one: [Substring], _ other: [Substring]) -> [Substring] {
        var counts: [Substring: Int] = [:]
        for line in other { counts[line, default: 0] += 1 }
        return one.filter { line in
            let count = counts[line, default: 0]
            counts[line] = count - 1
            return count <= 0
        }
    }

    private static func text(_ title: String, _ lines: [Substring]) -> String {
        if lines.isEmpty { return "" }
        return "\(lines.count) lines \(title):\n"
            + lines.prefix(lineCountMax).map { "  \($0.prefix(400))\n" }.joined()
    }
}
