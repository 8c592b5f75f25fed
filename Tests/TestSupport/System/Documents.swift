// The repository's Markdown files as tests read them: marked blocks of code, headings, links.

import Foundation

/// A Markdown file of the repository.
package struct Document: Sendable {
    package struct Mistake: Error, CustomStringConvertible {
        package let description: String
    }

    /// From the repository's root: `docs/events.md`.
    package let path: String
    package let text: String

    package init(_ path: String) throws {
        self.path = path
        text = try String(contentsOf: Repository.file(path), encoding: .utf8)
    }

    /// README.md and all Markdown files in docs and its folders, by name.
    package static func all() throws -> [Document] {
        let docs = try FileManager.default.subpathsOfDirectory(atPath: Repository.file("docs").path)
        return try (["README.md"] + docs.filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }).map(Self.init)
    }

    /// The code blocks that follow a comment `<!-- marker -->`, with the comment's text, in their order.
    package var markedBlocks: [(marker: String, code: String)] {
        text.matches(of: /(?m)^<!-- (.+) -->\n```[a-z]*\n((?s).*?)^```$/).map { (String($0.1), String($0.2)) }
    }

    /// The text without its code blocks.
    package var prose: String { text.replacing(/(?m)^```(?s).*?^```$/, with: "") }

    /// The anchors that links may name after `#`, as GitHub derives them from the headings. Headings of one file differ.
    package var anchors: Set<String> { Set(prose.matches(of: /(?m)^#+ (.+)$/).map { Self.anchor($0.1) }) }

    /// The anchors of the sections, in their order.
    package var sections: [String] { prose.matches(of: /(?m)^## (.+)$/).map { Self.anchor($0.1) } }

    private static func anchor(_ heading: Substring) -> String {
        let kept = heading.lowercased().filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }
        return kept.replacing(" ", with: "-")
    }

    /// The targets of all links.
    package var links: [String] { prose.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) } }

    /// The first cell of each row of each table, without back quotes.
    package var firstCells: [String] {
        prose.matches(of: /(?m)^\| ([^|]+) \|/).map { String($0.1.replacing(/[`\[\]]|\(#.*\)/, with: "")) }
    }
}
