// Slack's markup as plain text. Many services write it: links and mentions in angle brackets, and three characters
// escaped (docs.slack.dev, "Formatting message text").

package enum SlackText {
    /// Returns the text as a person reads it: `<https://a.example|A>` as `A (https://a.example)`, `<!here>` as `@here`,
    /// and `&amp;`, `&lt;` and `&gt;` as the characters that they stand for. What is no markup stays as it is.
    package static func plain(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") }) else { return text }
        var plain = ""
        plain.reserveCapacity(text.utf8.count)
        var rest = text[...]
        while let start = rest.firstIndex(of: "<") {
            plain += unescaped(rest[..<start])
            rest = rest[rest.index(after: start)...]
            let line = rest.prefix { $0 != "<" && !$0.isNewline }
            if let end = line.firstIndex(of: ">"), let shown = shown(line[..<end]) {
                plain += shown
                rest = rest[rest.index(after: end)...]
            } else {
                plain += "<"
            }
        }
        return plain + unescaped(rest)
    }

    /// What stands for the inside of angle brackets. Nil if they are no markup.
    private static func shown(_ markup: Substring) -> String? {
        let parts = markup.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
        let target = unescaped(parts[0])
        let label = parts.count > 1 ? unescaped(parts[1]) : ""
        guard let kind = target.first, !target.contains(where: \.isWhitespace) || kind == "!" else { return nil }
        switch kind {
        case "!": return command(target.dropFirst(), label)
        case "@": return target.count > 1 ? "@" + (label.isEmpty ? String(target.dropFirst()) : label) : nil
        case "#": return target.count > 1 ? "#" + (label.isEmpty ? String(target.dropFirst()) : label) : nil
        default: return link(target, label)
        }
    }

    /// `<!here>`, `<!subteam^ID|@team>`, `<!date^1392734382^{date}|Feb 18>`.
    private static func command(_ target: Substring, _ label: String) -> String? {
        switch target {
        case "here", "channel", "everyone": return "@" + target
        default:
            guard target.contains("^") else { return nil }
            if !label.isEmpty { return label }
            return "@" + target.prefix { $0 != "^" }
        }
    }

    private static func link(_ target: String, _ label: String) -> String? {
        guard ["http://", "https://", "mailto:", "tel:"].contains(where: { target.lowercased().hasPrefix($0) }) else {
            return nil
        }
        let address = target.hasPrefix("mailto:") ? String(target.dropFirst("mailto:".count)) : target
        return label.isEmpty || label == address || label == target ? address : "\(label) (\(address))"
    }

    /// In one pass: `&amp;lt;` is `&lt;`.
    private static func unescaped(_ text: Substring) -> String {
        guard text.utf8.contains(UInt8(ascii: "&")) else { return String(text) }
        var plain = ""
        var rest = text
        while let start = rest.firstIndex(of: "&") {
            plain += rest[..<start]
            rest = rest[start...]
            if let (name, character) = entities.first(where: { rest.hasPrefix($0.name) }) {
                plain += character
                rest = rest.dropFirst(name.count)
            } else {
                plain += "&"
                rest = rest.dropFirst()
            }
        }
        return plain + rest
    }

    private static let entities: [(name: String, character: String)] = [("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")]
}
