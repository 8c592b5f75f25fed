// Zulip's Markdown: mentions, links to channels, and links to uploaded files. All other marks stay as people typed them.

/// The text of a message with its mentions and files.
struct ZulipText {
    var text = ""
    /// `Ann Lee` or `Ann Lee|17`.
    var people: [String] = []
    /// The paths of uploaded files, without `/user_uploads/`.
    var uploads: [String] = []

    static func parsed(_ source: String) -> ZulipText {
        var result = ZulipText()
        var rest = source[...]
        while let start = rest.firstIndex(where: { "@#[!".contains($0) }) {
            result.text += rest[..<start]
            rest = rest[start...]
            if !result.readMention(&rest), !result.readUpload(&rest) {
                result.text.append(rest.removeFirst())
            }
        }
        result.text += rest
        return result
    }

    /// `@**Ann Lee**`, `@_**Ann Lee|17**` (silent), `@*group*`, `#**channel>topic**`.
    private mutating func readMention(_ rest: inout Substring) -> Bool {
        let isSilent = rest.hasPrefix("@_")
        let marks = ["@**", "@_**", "@*", "@_*", "#**"]
        guard let mark = marks.first(where: rest.hasPrefix) else { return false }
        let end = mark.hasSuffix("**") ? "**" : "*"
        let line = rest.dropFirst(mark.count).prefix { !$0.isNewline }
        guard let close = line.firstRange(of: end), close.lowerBound > line.startIndex else { return false }
        let name = String(line[..<close.lowerBound])
        rest = rest[close.upperBound...]
        if mark == "#**" {
            text += "#" + name.split(separator: ">", maxSplits: 1).joined(separator: " > ")
        } else {
            text += "@" + name.prefix { $0 != "|" }
            if mark.hasSuffix("**"), !isSilent { people.append(name) }
        }
        return true
    }

    /// `[name](/user_uploads/2/ab/name.png)`: the name stays in the text, the file becomes an attachment.
    private mutating func readUpload(_ rest: inout Substring) -> Bool {
        let link = rest.first == "!" ? rest.dropFirst() : rest
        guard link.first == "[", let middle = link.firstRange(of: "](") else { return false }
        let label = link[link.index(after: link.startIndex)..<middle.lowerBound]
        let target = link[middle.upperBound...].prefix { $0 != ")" && !$0.isNewline }
        guard !label.contains("\n"), target.endIndex < link.endIndex, link[target.endIndex] == ")" else { return false }
        guard let path = Self.upload(target) else { return false }
        uploads.append(path)
        text += label
        rest = link[link.index(after: target.endIndex)...]
        return true
    }

    private static func upload(_ target: Substring) -> String? {
        guard let prefix = target.firstRange(of: "/user_uploads/") else { return nil }
        let isOwn = prefix.lowerBound == target.startIndex
        return isOwn ? String(target[prefix.upperBound...]) : nil
    }
}
